# Fit every case with lme4/lmerTest; called by make_lme4.py:  Rscript lme4.R FOLDER
#
# FOLDER/cases.json lists {file, name, formula, weights, factors{column: levels}, reml}; each file is a CSV.
# A case with quick is fitted by the two searches only, not started again.
# A case with theta{group: values} is not fitted: its criterion there is lme4's own deviance function.
# Each model is fitted by bobyqa and by nloptwrap with tight tolerances, each started again from the better
# of the two; the lowest criterion is kept. Answers go to FOLDER/answers.json with full precision.
suppressMessages({library(lme4); library(lmerTest); library(jsonlite)})

controls <- list(
  lmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e6), calc.derivs = FALSE),
  lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-12, maxeval = 1e5), calc.derivs = FALSE),
  lmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e6, rhobeg = 1e-4, rhoend = 1e-10), calc.derivs = FALSE)
)

read_case <- function(case, folder) {
  data <- read.csv(file.path(folder, case$file), stringsAsFactors = FALSE, na.strings = "", check.names = FALSE)
  for (name in names(case$factors)) data[[name]] <- factor(data[[name]], levels = unlist(case$factors[[name]]))
  data
}

fit_once <- function(formula, data, w, reml, control, start = NULL) {
  arguments <- list(formula, data = data, REML = reml, control = control)
  if (!is.null(w)) arguments$weights <- data[[w]]
  if (!is.null(start)) arguments$start <- start
  suppressMessages(suppressWarnings(tryCatch(do.call(lme4::lmer, arguments), error = function(e) NULL)))
}

crit <- function(fit) if (is.null(fit)) Inf else -2 * as.numeric(logLik(fit))

degrees <- function(fit) {
  tryCatch(suppressMessages(suppressWarnings({
    full <- lmerTest::as_lmerModLmerTest(fit)
    unname(coef(summary(full, ddf = "Satterthwaite"))[, "df"])
  })), error = function(e) NULL)
}

at_theta <- function(case, data) {
  parsed <- lFormula(as.formula(case$formula), data = data, REML = case$reml)
  theta <- unlist(case$theta[names(parsed$reTrms$cnms)])
  list(name = case$name, reml = case$reml, criterion = do.call(mkLmerDevfun, parsed)(theta))
}

answer <- function(case, folder) {
  data <- read_case(case, folder)
  if (!is.null(case$theta)) return(at_theta(case, data))
  formula <- as.formula(case$formula)
  default <- fit_once(formula, data, case$weights, case$reml, lmerControl())
  first <- lapply(controls[1:2], function(control) fit_once(formula, data, case$weights, case$reml, control))
  best <- first[[which.min(sapply(first, crit))]]
  again <- if (isTRUE(case$quick)) list() else lapply(controls, function(control) fit_once(formula, data, case$weights, case$reml, control, getME(best, "theta")))
  all <- c(first, again)
  best <- all[[which.min(sapply(all, crit))]]
  components <- as.data.frame(VarCorr(best))
  cond <- suppressWarnings(sqrt(diag(as.matrix(vcov(best)))))
  dropped <- attr(best@pp$X, "col.dropped")
  list(
    name = case$name, reml = case$reml, n = nobs(best), criterion = crit(best),
    bobyqa = crit(first[[1]]), nloptwrap = crit(first[[2]]),
    names = I(as.character(names(fixef(best)))), beta = I(unname(fixef(best))), se = I(unname(cond)),
    df = if (length(fixef(best))) I(degrees(best)) else I(numeric(0)), theta = I(unname(getME(best, "theta"))), sigma = sigma(best),
    dropped = I(as.character(names(dropped))), singular = isSingular(best),
    random = components, default = crit(default), default_variances = I(as.data.frame(VarCorr(default))$vcov)
  )
}

if (!interactive()) {
  folder <- commandArgs(trailingOnly = TRUE)[1]
  cases <- fromJSON(file.path(folder, "cases.json"), simplifyVector = FALSE)
  answers <- parallel::mclapply(cases, function(case) tryCatch(answer(case, folder), error = function(e) list(name = case$name, reml = case$reml, error = conditionMessage(e))), mc.cores = 2, mc.preschedule = FALSE)
  versions <- list(R = as.character(getRversion()), lme4 = as.character(packageVersion("lme4")), lmerTest = as.character(packageVersion("lmerTest")))
  write_json(list(versions = versions, answers = answers), file.path(folder, "answers.json"), auto_unbox = TRUE, digits = NA, na = "null")
}
