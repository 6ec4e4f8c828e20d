import { parseArgs } from "node:util";
import type { FaultCase } from "./fault-case.ts";

export type CampaignOptions = {
  seed: number;
  seeds: number;
  /** The selected names and groups of cases; empty to select all cases. */
  only: string[];
  /** `embedded`, `postgres` for a server that the campaign starts, or the URL of a Postgres server. */
  database: string;
  /** Number of runs that are played at the same time. */
  atOnce: number;
};

/**
 * Reads `--seed N --seeds N --only K07,browser --database embedded|postgres|<url> --at-once N`.
 * @throws Error that names the invalid option.
 */
export function readOptions(args: string[], cases: readonly FaultCase[]): CampaignOptions {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "5" },
      only: { type: "string", default: "" },
      database: { type: "string", default: "embedded" },
      "at-once": { type: "string", default: "1" },
    },
  });
  const only = values.only
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  for (const word of only)
    if (!cases.some((fault) => fault.name === word || fault.group === word))
      throw new Error(`--only: there is no fault or group named ${word}`);
  return {
    seed: readNumber("seed", values.seed),
    seeds: readNumber("seeds", values.seeds),
    only,
    database: values.database,
    atOnce: readNumber("at-once", values["at-once"]),
  };
}

function readNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name}: must be a whole number from 1`);
  return Number(text);
}
