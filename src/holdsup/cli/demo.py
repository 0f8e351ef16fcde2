"""`holdsup demo`: what holdsup does, shown on simulated scores whose truth is known."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("demo", epilog="Example: holdsup demo --seed 7")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated scores.")
def command(seed: int) -> None:
    """Show, on simulated scores whose truth is known, why a leaderboard gap may not hold up."""
    from holdsup.demo import steps

    for step in steps(seed=seed):
        click.echo(click.style(step.title, bold=True))
        click.echo(step.text)
