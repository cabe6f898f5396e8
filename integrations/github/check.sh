#!/usr/bin/env bash
# The action's check: runs irdiff check once, in every format, and hands the results to GitHub.
# Everything comes in as environment variables (see action.yml); nothing of them is read as shell.
set -uo pipefail

IRDIFF="${IRDIFF:-irdiff}"
folder="${RUNNER_TEMP:?}/irdiff"
marker='<!-- irdiff -->'  # what every markdown report begins with
mkdir -p "$folder"

arguments=()
if [[ -n "${AGAINST:-}" ]]; then
  [[ -z "${BEFORE:-}${AFTER:-}${BASELINE:-}" ]] || { echo '::error::give against, or before and after, or baseline and after'; exit 64; }
  arguments+=(--against "$AGAINST")
  [[ -z "${PYTHON:-}" ]] || arguments+=(--python "$PYTHON")
elif [[ -n "${BASELINE:-}" ]]; then
  arguments+=("${AFTER:?after is needed with baseline}" --baseline "$BASELINE")
else
  arguments+=("${BEFORE:?against, baseline or before is needed}" "${AFTER:?after is needed with before}")
fi
while IFS= read -r line; do
  [[ -z "$line" ]] || arguments+=("$line")
done <<<"${ARGUMENTS:-}"

rm -f "$folder/report.json" "$folder/report.md" "$folder/report.sarif"
"$IRDIFF" check "${arguments[@]}" \
  --format json -o "$folder/report.json" --format markdown -o "$folder/report.md" \
  --format sarif -o "$folder/report.sarif" --format github
code=$?

{
  echo "exit-code=$code"
  echo "report=$folder/report.json"
  echo "markdown=$folder/report.md"
  echo "sarif=$folder/report.sarif"
} >>"${GITHUB_OUTPUT:?}"

if [[ -s "$folder/report.md" ]]; then
  cat "$folder/report.md" >>"${GITHUB_STEP_SUMMARY:?}"
  if [[ "${COMMENT:-false}" == true && -n "${PULL_REQUEST:-}" ]]; then
    cp "$folder/report.md" "$folder/comment.md"
    comments="repos/${GITHUB_REPOSITORY:?}/issues/$PULL_REQUEST/comments"
    # The newest comment of ours is replaced, so that a pull request has one. A fork's token may not write: no failure.
    ours="$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" 2>/dev/null | tail -n 1)"
    if [[ -n "$ours" ]]; then
      gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$ours" -F "body=@$folder/comment.md" ||
        echo '::warning::the comment could not be updated'
    else
      gh api --silent --method POST "$comments" -F "body=@$folder/comment.md" ||
        echo '::warning::the comment could not be written (the token needs pull-requests: write)'
    fi
  fi
fi

if [[ $code -eq 2 && "${ALLOW_UNSURE:-false}" == true ]]; then
  echo '::warning::irdiff could not judge everything; allow-unsure lets it pass'
  exit 0
fi
exit "$code"
