import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { FLIPPING_NAME } from "./flipping-name.ts";

// node --import …/flip-names.ts: a resolver whose answer for one name is what a file says at the time, as that of somebody
// who wants a checked name to lead elsewhere. FLIP_FILE names the file.
const path = process.env.FLIP_FILE ?? "";
const resolve = dns.lookup;

const lookup = async (hostname: string, options: never) =>
  hostname === FLIPPING_NAME
    ? [{ address: readFileSync(path, "utf8").trim(), family: 4 }]
    : resolve(hostname, options);
Object.assign(dns, { lookup });
syncBuiltinESMExports();
