# One lme4 fit, timed: Rscript lme4_fit.R FILE.csv FORMULA REML(0/1) FACTORS(comma-separated)
# Prints one JSON line. Reading and factor() are not timed; lmer with its table of t-tests is not either
# (lmerTest): only lmer itself, as a user would call it.
arguments <- commandArgs(TRUE)
suppressMessages({library(lme4); library(data.table); library(jsonlite)})
table <- as.data.frame(fread(arguments[1]))
for (name in strsplit(arguments[4], ",")[[1]]) table[[name]] <- factor(table[[name]])
invisible(gc())
time <- system.time(fit <- suppressMessages(lmer(as.formula(arguments[2]), table, REML = arguments[3] == "1")))
status <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
cat(toJSON(list(
  wall = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]],
  peak_mb = as.numeric(gsub("[^0-9]", "", status)) / 1024,
  answer = -2 * as.numeric(logLik(fit)), version = as.character(packageVersion("lme4"))
), auto_unbox = TRUE, digits = NA), "\n", sep = "")
