# p of Kenward and Roger's test of two systems, a line a table: Rscript kenward_roger.R FILE.csv
# Columns: table, system, run, item, score. Runs belong to their system. NA where a fit fails.
suppressMessages(library(lmerTest))
model <- score ~ system + (1 | item) + (1 | system:item) + (1 | system:run)
control <- lmerControl(calc.derivs = FALSE, check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore")
test <- function(table) suppressWarnings(suppressMessages(tryCatch(
  anova(lmer(model, table, control = control), ddf = "Kenward-Roger")[["Pr(>F)"]], error = function(e) NA
)))
rows <- read.csv(commandArgs(TRUE)[1])
for (name in c("system", "run", "item")) rows[[name]] <- factor(rows[[name]])
for (table in split(rows, rows$table)) cat(test(table), "\n")
