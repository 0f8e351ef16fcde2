# Seconds of parametric-bootstrap likelihood-ratio tests: Rscript bootstrap.R TABLE.csv NULL ALTERNATIVE DRAWS FACTORS
arguments <- commandArgs(trailingOnly = TRUE)
suppressMessages({library(lme4); library(data.table); library(jsonlite)})
table <- as.data.frame(fread(arguments[1]))
for (name in strsplit(arguments[5], ",")[[1]]) table[[name]] <- factor(table[[name]])
quiet <- function(...) suppressMessages(suppressWarnings(...))
null <- quiet(lmer(as.formula(arguments[2]), table, REML = FALSE))
alternative <- quiet(lmer(as.formula(arguments[3]), table, REML = FALSE))
draws <- as.integer(arguments[4])
started <- proc.time()
statistics <- sapply(seq_len(draws), function(i) {
  y <- simulate(null, seed = i)[[1]]
  2 * as.numeric(logLik(quiet(refit(alternative, y))) - logLik(quiet(refit(null, y))))
})
spent <- proc.time() - started
cat(toJSON(list(wall = spent[["elapsed"]], cpu = sum(spent[c("user.self", "sys.self")]), answer = mean(statistics),
                draws = draws), auto_unbox = TRUE, digits = 10), "\n")
