import { writeFile } from "node:fs/promises";
import { CLIENT_TYPES } from "./client-types-path.ts";
import { printClientTypes } from "./print-client-types.ts";

await writeFile(CLIENT_TYPES, printClientTypes());
