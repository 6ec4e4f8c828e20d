import type { FaultCase } from "../fault-case.ts";
import { anyStatement } from "./any-statement.ts";
import { browserFaults } from "./browser-faults.ts";
import { chain } from "./chain.ts";
import { concurrency } from "./concurrency.ts";
import { databaseFaults } from "./database-faults.ts";
import { hostFaults } from "./host-faults.ts";
import { killPoints, throwPoints } from "./kill/kill-points.ts";
import { parkedTurns } from "./kill/parked-turns.ts";
import { publications } from "./kill/publications.ts";
import { sharedWrites } from "./kill/shared-writes.ts";
import { siteDataKills } from "./kill/site-data.ts";
import { work } from "./kill/work.ts";
import { liveBrowsers } from "./live-browsers.ts";
import { loadFaults } from "./load.ts";
import { mcpFaults } from "./mcp-faults.ts";
import { modelFaults } from "./model-faults.ts";
import { nameThatFlips } from "./name-that-flips.ts";
import { receiverFaults } from "./receiver-faults.ts";
import { hostCutOff } from "./remote-hosts/host-cut-off.ts";
import { sessionsOnHosts } from "./remote-hosts/sessions-on-hosts.ts";
import { steering } from "./steering.ts";

/** Every case. The campaign plays the cases in this order, except that cases with `runsAlone` come last. */
export const CASES: readonly FaultCase[] = [
  ...killPoints,
  ...parkedTurns,
  ...publications,
  ...work,
  ...siteDataKills,
  sharedWrites,
  anyStatement,
  chain,
  ...throwPoints,
  ...steering,
  ...modelFaults,
  ...mcpFaults,
  ...receiverFaults,
  nameThatFlips,
  ...browserFaults,
  ...hostFaults,
  hostCutOff,
  ...databaseFaults,
  ...concurrency,
  ...loadFaults,
  liveBrowsers,
  sessionsOnHosts,
];
