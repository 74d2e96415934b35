# Lines of JSON in, lines of JSON out: operations of R's package paws, as a lab's script calls them.
package <- if (requireNamespace("paws", quietly = TRUE)) "paws" else "paws.analytics"
mturk <- getExportedValue(package, "mturk")(config = list(endpoint = Sys.getenv("ENDPOINT"), region = "us-east-1"))
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  request <- jsonlite::fromJSON(line, simplifyVector = FALSE)
  answer <- tryCatch(
    list(gave = do.call(mturk[[request[[1]]]], as.list(request[[2]]))),
    error = function(problem) list(raised = conditionMessage(problem))
  )
  writeLines(jsonlite::toJSON(answer, auto_unbox = TRUE, null = "null", force = TRUE, digits = NA))
  flush(stdout())
}
