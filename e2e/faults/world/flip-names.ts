import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { FLIPPING_NAME } from "./flipping-name.ts";

// node --import …/flip-names.ts
// Replaces the resolver, as an attacker does who changes a name after the check: for FLIPPING_NAME it answers the address
// that the file FLIP_FILE holds at that time.
const path = process.env.FLIP_FILE ?? "";
const resolve = dns.lookup;

const lookup = async (hostname: string, options: never) =>
  hostname === FLIPPING_NAME
    ? [{ address: readFileSync(path, "utf8").trim(), family: 4 }]
    : resolve(hostname, options);
Object.assign(dns, { lookup });
syncBuiltinESMExports();
