#!/usr/bin/env bash
#
# ajv's const and enum misjudge JSON objects with a property "constructor", "toString" or "valueOf".
#
# Versions:  ajv 8.20.0, fast-deep-equal 3.1.3
#
# Expected:  Two JSON objects are equal if they have the same properties with equal values, whatever the names of the
#            properties are. JSON Schema 2020-12, Core, section 4.2.2, defines equality in this way, and sections 6.1.2
#            and 6.1.3 of its Validation specification use it for `enum` and `const`.
# Actual:    With the property "constructor", an object does not equal a copy of itself if the property's value is an
#            object or a list, so `const` and `enum` refuse a valid value.
#            With "toString" or "valueOf", the validator throws a TypeError instead of returning a result.
# Source:    lib/runtime/equal.ts of ajv exports the function of fast-deep-equal. index.js of fast-deep-equal compares
#            `a.constructor !== b.constructor` by reference, and calls `a.valueOf()` and `a.toString()` if they differ
#            from those of Object.prototype. The values of JSON.parse have such properties as data.
#
# The property has the value {"a":1}. Each keyword checks an object with this property against an equal one. Schemas and
# values are parsed from JSON text.
# The lines below are the output seen. The script compares its output with them and exits with 1 if they differ.
#
#> property     keyword      expected  ajv
#> other        const        valid     valid
#> other        enum         valid     valid
#> constructor  const        valid     invalid
#> constructor  enum         valid     invalid
#> toString     const        valid     TypeError: a.toString is not a function
#> toString     enum         valid     TypeError: a.toString is not a function
#> valueOf      const        valid     TypeError: a.valueOf is not a function
#> valueOf      enum         valid     TypeError: a.valueOf is not a function

set -euo pipefail

script="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error \
  ajv@8.20.0 fast-deep-equal@3.1.3 >/dev/null

cat >"$dir/probe.mjs" <<'PROBE'
import { Ajv2020 } from "ajv/dist/2020.js";

const ajv = new Ajv2020();

function validate(schema, value) {
  const check = ajv.compile(JSON.parse(schema));
  try {
    return check(JSON.parse(value)) ? "valid" : "invalid";
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const print = (...cells) => console.log(cells.map((cell, index) => cell.padEnd([11, 11, 8, 0][index])).join("  "));

print("property", "keyword", "expected", "ajv");
for (const property of ["other", "constructor", "toString", "valueOf"]) {
  const object = `{"${property}":{"a":1}}`;
  print(property, "const", "valid", validate(`{"const":${object}}`, object));
  print(property, "enum", "valid", validate(`{"enum":[${object}]}`, object));
}
PROBE

node "$dir/probe.mjs" | tee "$dir/output"
grep '^#> ' "$script" | cut -c4- | diff - "$dir/output"
