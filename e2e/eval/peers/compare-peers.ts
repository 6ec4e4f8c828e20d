import { findTestChromium } from "#lib/browser/testing.ts";
import { evaluate } from "../evaluate.ts";
import { buildLibraryPages } from "../libraries/build-pages.ts";
import type { TaskResult } from "../play-task.ts";
import { formatTable } from "../report.ts";
import type { Task } from "../task.ts";
import { openAgentBrowser } from "./open-agent-browser.ts";
import { openPlaywrightMcp } from "./open-playwright-mcp.ts";
import { installPeers, type OpenPeer, PEERS, type PeerName } from "./peer.ts";
import { playWithPeer } from "./play-with-peer.ts";

/** The tasks that are compared by default: forms, a search, a dialog, and pages of component libraries. */
export const PEER_TASKS = [
  ...["wizard", "search", "modal-form"],
  ...["mui-form", "ant-design", "ag-grid", "tiptap", "dnd-kit"],
];

const OPEN: Record<PeerName, OpenPeer> = {
  "@playwright/mcp": openPlaywrightMcp,
  "agent-browser": openAgentBrowser,
};

/** The results of one system. */
export type SystemResults = { system: string; results: TaskResult[] };

/**
 * Plays tasks with the service and with its peers, one after the other, with the same model.
 *
 * @param systems `service` and names of peers; all if undefined.
 */
export async function playSystems(
  tasks: readonly Task[],
  variables: Record<string, string>,
  systems: readonly string[] | undefined,
  log: (text: string) => void,
): Promise<SystemResults[]> {
  const played: SystemResults[] = [];
  const wants = (system: string) => systems === undefined || systems.includes(system);
  const logResult = (system: string) => (result: TaskResult) =>
    log(
      `${system}: ${result.id} ${result.isSolved ? "solved" : `NOT solved: ${result.remark}`} (${result.modelCalls} model calls)`,
    );
  if (wants("service")) {
    const onResult = logResult("service");
    const results = await evaluate(tasks, { kind: "model", variables }, { atOnce: 1, log, onResult });
    played.push({ system: "service", results });
  }
  // The peers' schemas have keywords that the provider does not know; the SDK would warn before each call.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const peers = (Object.keys(OPEN) as PeerName[]).filter(wants);
  if (peers.length === 0) return played;
  const folder = await installPeers(log);
  const libraryPages = await buildLibraryPages(log);
  const { executablePath } = findTestChromium();
  for (const name of peers) {
    const options = { libraryPages, onResult: logResult(name) };
    const results = await playWithPeer(tasks, () => OPEN[name](folder, executablePath), variables, options);
    played.push({ system: `${name} ${PEERS[name]}`, results });
  }
  return played;
}

/**
 * Formats the sums of each system, with the characters of its model calls relative to the peer that needs fewest, and a
 * table of the characters of each task.
 */
export function formatSystems(systems: readonly SystemResults[]): string {
  const sum = ({ results }: SystemResults, name: "modelCalls" | "toolCalls" | "toolErrors" | Characters) =>
    results.reduce((total, result) => total + result[name], 0);
  const best = Math.min(
    ...systems.filter(({ system }) => system !== "service").map((each) => sum(each, "totalChars")),
  );
  const rows = systems.map((each) => [
    each.system,
    `${each.results.filter(({ isSolved }) => isSolved).length}/${each.results.length}`,
    ...(["modelCalls", "toolCalls", "toolErrors", "fixedChars", "charsRead", "totalChars"] as const).map(
      (name) => String(sum(each, name)),
    ),
    Number.isFinite(best) ? `${(sum(each, "totalChars") / best).toFixed(2)} ×` : "",
  ]);
  const ids = systems[0]?.results.map(({ id }) => id) ?? [];
  const cells = (id: string) =>
    systems.map(({ results }) => {
      const result = results.find((each) => each.id === id);
      return result ? `${result.isSolved ? "" : "NOT solved "}${result.totalChars}` : "";
    });
  const head = [
    ...["system", "solved", "model calls", "tool calls", "tool errors"],
    ...["fixed characters", "characters of results", "characters in all", "to the better peer"],
  ];
  return [
    formatTable([head, ...rows]),
    "",
    formatTable([
      ["characters in all", ...systems.map(({ system }) => system)],
      ...ids.map((id) => [id, ...cells(id)]),
    ]),
  ].join("\n");
}

type Characters = "fixedChars" | "charsRead" | "totalChars";
