#!/usr/bin/env bash
#
# ajv overflows the stack for a valid schema in which a part with an `$id` refers to a definition of its own.
#
# Versions:  ajv 8.20.0
#
# Expected:  The schema compiles. In JSON Schema 2020-12, Core, section 8.2.3.1, a `$ref` may stand next to other keywords,
#            and section 8.2.1 makes the part a resource of its own, in which `#/$defs/text` is found. The official test
#            suite has this case: ref.json, "refs with relative uris and defs".
# Actual:    `compile` throws a RangeError. The same reference compiles in an `allOf`, and in a part without an id.
# Source:    lib/compile/index.ts of ajv: `getJsonPointer` resolves the part, sees its `$ref`, and calls `resolveSchema`,
#            which resolves the part again.
#
# The lines below are the output seen. The script compares its output with them and exits with 1 if they differ.
#
#> the reference is  expected  ajv
#> next to an id     valid     RangeError: Maximum call stack size exceeded
#> in an allOf       valid     valid
#> without an id     valid     valid

set -euo pipefail

script="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error ajv@8.20.0 >/dev/null

cat >"$dir/probe.mjs" <<'PROBE'
import { Ajv2020 } from "ajv/dist/2020.js";

const $defs = { text: { type: "string" } };

function validate(part, $defs) {
  try {
    const ajv = new Ajv2020({ strict: false });
    const check = ajv.compile({ $id: "https://example.com/whole", properties: { part }, $defs });
    return check({ part: "a" }) ? "valid" : "invalid";
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const print = (...cells) => console.log(cells.map((cell, index) => cell.padEnd([16, 8, 0][index])).join("  "));
const $id = "https://example.com/part";
const $ref = "#/$defs/text";

print("the reference is", "expected", "ajv");
print("next to an id", "valid", validate({ $id, $defs, $ref }, {}));
print("in an allOf", "valid", validate({ $id, $defs, allOf: [{ $ref }] }, {}));
print("without an id", "valid", validate({ $ref }, $defs));
PROBE

node "$dir/probe.mjs" | tee "$dir/output"
grep '^#> ' "$script" | cut -c4- | diff - "$dir/output"
