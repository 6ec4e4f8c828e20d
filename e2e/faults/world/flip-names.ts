import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { FLIPPING_NAME } from "./flipping-name.ts";

// node --import …/flip-names.ts
// Replaces the name resolver: FLIPPING_NAME resolves to the current content of the file FLIP_FILE. A case changes the
// file to simulate an attacker who changes the address of a name after the service has checked the address.
const path = process.env.FLIP_FILE ?? "";
const resolve = dns.lookup;

const lookup = async (hostname: string, options: never) =>
  hostname === FLIPPING_NAME
    ? [{ address: readFileSync(path, "utf8").trim(), family: 4 }]
    : resolve(hostname, options);
Object.assign(dns, { lookup });
syncBuiltinESMExports();
