# Fit every case with glmer; called by make_glmer.py:  Rscript glmer.R FOLDER
#
# FOLDER/cases.json lists {file, name, formula, factors{column: levels}, one_factor}; each file is a CSV.
# Each model is fitted by glmer's default and by bobyqa with tight tolerances; the lower criterion (-2 log-likelihood) is
# kept. A model with one factor is fitted with 25 nodes too. Answers go to FOLDER/answers.json with full precision.
suppressMessages({library(lme4); library(jsonlite)})

tight <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-11, optCtrl = list(maxfun = 2e4, rhoend = 1e-8), calc.derivs = FALSE)
fit_once <- function(formula, data, nodes, control) suppressMessages(suppressWarnings(
  tryCatch(glmer(formula, data, binomial, nAGQ = nodes, control = control), error = function(e) NULL)))
crit <- function(fit) if (is.null(fit)) Inf else -2 * as.numeric(logLik(fit))
told <- function(fit) list(
  criterion = crit(fit), names = I(names(fixef(fit))), beta = I(unname(fixef(fit))),
  se = I(unname(sqrt(diag(as.matrix(vcov(fit, use.hessian = FALSE)))))),
  random = as.data.frame(VarCorr(fit)), singular = isSingular(fit))

answer <- function(case, folder) {
  data <- read.csv(file.path(folder, case$file), stringsAsFactors = FALSE)
  for (name in names(case$factors)) data[[name]] <- factor(data[[name]], levels = unlist(case$factors[[name]]))
  formula <- as.formula(case$formula)
  fits <- list(fit_once(formula, data, 1, glmerControl(calc.derivs = FALSE)), fit_once(formula, data, 1, tight))
  found <- list(name = case$name, laplace = told(fits[[which.min(sapply(fits, crit))]]))
  if (isTRUE(case$one_factor)) found$nodes25 <- told(fit_once(formula, data, 25, tight))
  found
}

folder <- commandArgs(trailingOnly = TRUE)[1]
cases <- fromJSON(file.path(folder, "cases.json"), simplifyVector = FALSE)
answers <- lapply(cases, function(case) answer(case, folder))
versions <- list(R = as.character(getRversion()), lme4 = as.character(packageVersion("lme4")))
write_json(list(versions = versions, answers = answers), file.path(folder, "answers.json"), auto_unbox = TRUE, digits = NA, na = "null")
