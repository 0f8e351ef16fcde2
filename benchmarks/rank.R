# lmerTest's answers for one ranking, timed: Rscript rank.R FILE.csv FORMULA FACTORS(comma-separated)
# Prints one JSON line. Reading and factor() are not timed; lmer, its table of Satterthwaite's t-tests and ranova are.
# reduce.terms = FALSE takes out whole terms: by default ranova compares (0 + x | g) with (1 | g), which is not nested.
arguments <- commandArgs(TRUE)
suppressMessages({library(lmerTest); library(data.table); library(jsonlite)})
table <- as.data.frame(fread(arguments[1]))
for (name in strsplit(arguments[3], ",")[[1]]) table[[name]] <- factor(table[[name]])
invisible(gc())
quiet <- function(code) suppressWarnings(suppressMessages(code))
seconds <- function(time) list(wall = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]])
fitting <- system.time(quiet({fit <- lmer(as.formula(arguments[2]), table); fixed <- coef(summary(fit))}))
testing <- system.time(quiet(terms <- ranova(fit, reduce.terms = FALSE)))
cat(toJSON(list(
  fit = seconds(fitting), ranova = seconds(testing), criterion = -2 * as.numeric(logLik(fit)),
  estimates = fixed[, "Estimate"], df = fixed[, "df"], lrt = terms$LRT[-1], version = as.character(packageVersion("lmerTest"))
), auto_unbox = TRUE, digits = NA), "\n", sep = "")
