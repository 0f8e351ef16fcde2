# One glmer fit, timed: Rscript glmer_fit.R FILE.csv FORMULA NODES OPTIMIZER FACTORS(comma-separated)
# Prints one JSON line. Reading and factor() are not timed, nor are second derivatives computed.
arguments <- commandArgs(TRUE)
suppressMessages({library(lme4); library(jsonlite)})
table <- read.csv(arguments[1])
for (name in strsplit(arguments[5], ",")[[1]]) table[[name]] <- factor(table[[name]])
control <- if (arguments[4] == "bobyqa") glmerControl(optimizer = "bobyqa", calc.derivs = FALSE) else glmerControl(calc.derivs = FALSE)
time <- system.time(fit <- suppressMessages(suppressWarnings(
  glmer(as.formula(arguments[2]), table, binomial, nAGQ = as.integer(arguments[3]), control = control))))
status <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
cat(toJSON(list(
  wall = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]],
  peak_mb = as.numeric(gsub("[^0-9]", "", status)) / 1024,
  answer = -2 * as.numeric(logLik(fit)), sd = I(unname(sapply(VarCorr(fit), function(v) sqrt(v[1]))))
), auto_unbox = TRUE, digits = NA), "\n", sep = "")
