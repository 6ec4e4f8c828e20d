import { faultPoint } from "#lib/faults/fault-point.ts";
import { readPlanningState } from "#lib/planning/planning-store.ts";
import { hasUnreadSteers } from "#lib/session/follow-up/steering.ts";
import type { FreshRun } from "#lib/session/run/fresh-runs.ts";
import { listImportedConversations } from "#lib/session/store/imported-messages-store.ts";
import { initialUrlOf } from "#lib/session/store/selected-url-store.ts";
import { listWaits } from "#lib/session/store/wait-store.ts";
import { listVariantStates } from "#lib/variant/variant-history-store.ts";
import { createHistory } from "../history/history.ts";
import { createPromptMeter } from "../history/prompt-meter.ts";
import { composePrompt } from "../prompt/compose-prompt.ts";
import { picturesShown } from "../prompt/show-pictures.ts";
import { type Claim, readInteraction, toClaim } from "../record/claim.ts";
import {
  claimRunRow,
  findRequestStart,
  listBegunCalls,
  listHistory,
  listStepOutputs,
  type PlayJob,
  type RunRecord,
  readRun,
} from "../record/turn-store.ts";
import { startPlayTime } from "../run/play-time.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import { STOPPED_REASON } from "../run/stop-registry.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { openFreshRun } from "./open-run.ts";

/**
 * Whether a run may be played now. `later`: the run is a retry that is not due yet.
 * `not_claimable`: the job is outdated, or the run is not first in line.
 */
type ClaimResult =
  | { status: "claimed"; run: RunInPlay }
  | { status: "later"; delayMs: number }
  | { status: "not_claimable" };

/** Maximum number of imported conversations that the model is told. */
const IMPORTS_MAX = 5;

/**
 * Claims the session for a run, by compare-and-set of the session's active run. An outdated job, or the job of a run
 * that is not the first in line, claims nothing. A run that was claimed before continues after its recorded steps.
 * Source: `architecture.md`, How a request flows, 2.
 *
 * @param signal the signal of the run, which exists before the run is claimed and read. An earlier stop is visible in
 * the rows; a later stop aborts the signal.
 */
export async function claimRun(deps: TurnDeps, job: PlayJob, signal: AbortSignal): Promise<ClaimResult> {
  const { runId } = job;
  const fresh = await deps.freshRuns.consume(runId);
  if (fresh === "absent") return { status: "not_claimable" };
  const started = fresh && (await claimFresh(deps, job, fresh, signal));
  if (started) return { status: "claimed", run: started };
  const taken = await claimRunRow(deps.db, job);
  await faultPoint("run-claimed");
  if (taken.status !== "taken") return taken;
  const row = await readRun(deps.db, runId);
  if (!row) return { status: "not_claimable" };
  const { run, session, agent, position, requestMessages, currentUrl, selectedUrl } = row;
  const claim = { ...toClaim(run, session, row.requestOrigin), epoch: taken.epoch };
  const isNew = claim.epoch === 1 && claim.attempt === 1;
  const requestFrom = isNew ? 0 : await findRequestStart(deps.db, claim.requestId);
  const isFirst = isNew && position === 1;
  const history = createHistory(isFirst ? [] : await listHistory(deps.db, session.id));
  const outputs = new Map(claim.epoch === 1 ? [] : await listStepOutputs(deps.db, runId));
  const waits = claim.epoch === 1 ? [] : await listWaits(deps.db, runId);
  const interruptedCalls = claim.epoch === 1 ? [] : await listBegunCalls(deps.db, runId);
  const isSteered = claim.epoch > 1 && (await hasUnreadSteers(deps.db, claim.requestId));
  const state = await readSessionState(deps, row, isFirst);
  if (run.cancelRequestedAt) deps.stops.stop(runId, STOPPED_REASON);
  return {
    status: "claimed",
    run: {
      claim,
      session,
      agent,
      requestMessages,
      startedAt: run.startedAt,
      outputs,
      history,
      prompt: composePrompt(deps, claim, { session, agent, skills: state.skills }),
      currentUrl,
      selectedUrl,
      ...state,
      time: startPlayTime(deps.settings.playLimitMs, outputs.size),
      countedAt: performance.now(),
      meter: createPromptMeter(picturesShown(deps.model)),
      requestFrom,
      messageSeq: session.messageSeq,
      isCancelled: run.cancelRequestedAt !== null,
      isSteered,
      waits: new Map(
        waits.map(({ callId, createdAt, subjects, endedBy }) => [
          callId,
          { since: createdAt, subjects, endedBy: endedBy ?? undefined },
        ]),
      ),
      interruptedCalls: new Set(interruptedCalls),
      signal,
    },
  };
}

/**
 * Claims and starts a run that this process has just stored, without reading it. @returns undefined if the session has
 * changed in the meantime; nothing is written then.
 */
async function claimFresh(
  deps: TurnDeps,
  job: PlayJob,
  fresh: FreshRun,
  signal: AbortSignal,
): Promise<RunInPlay | undefined> {
  const { session, messages } = fresh;
  const claim: Claim = {
    runId: fresh.runId,
    epoch: 1,
    sessionId: session.id,
    requestId: fresh.requestId,
    attempt: 1,
    origin: fresh.origin,
    ...readInteraction(session, fresh.origin),
    source: session.source,
    isStructured: session.outputSchema !== null,
  };
  const state = {
    agent: undefined,
    currentUrl: null,
    selectedUrl: initialUrlOf(session),
    variants: [],
    planning: { plan: null, unmet: [] },
    imports: [],
    skills: await deps.skills.describe(session.skills),
  };
  const run: RunInPlay = {
    claim,
    session,
    ...state,
    requestMessages: messages,
    startedAt: null,
    outputs: new Map(),
    history: createHistory([]),
    prompt: composePrompt(deps, claim, { session, ...state }),
    time: startPlayTime(deps.settings.playLimitMs, 0),
    countedAt: performance.now(),
    meter: createPromptMeter(picturesShown(deps.model)),
    requestFrom: 0,
    messageSeq: session.messageSeq,
    isCancelled: false,
    isSteered: false,
    waits: new Map(),
    interruptedCalls: new Set(),
    signal,
  };
  const isClaimed = await openFreshRun(deps, run, { player: job.player, generation: job.generation });
  await faultPoint("run-claimed");
  return isClaimed ? run : undefined;
}

type SessionState = Pick<RunInPlay, "variants" | "planning" | "imports" | "skills">;

/** Reads the state of the session's tree for the model. Skips queries that would certainly find nothing. */
async function readSessionState(
  { db, skills, settings }: TurnDeps,
  { session, agent, hasPlanning, hasImports }: RunRecord,
  isFirst: boolean,
): Promise<SessionState> {
  const rootId = agent?.rootSessionId ?? session.id;
  const isFresh = isFirst && agent === undefined;
  const mayHaveVariants = session.toolset.includes("apply_variant") && !isFresh;
  const [variants, planning, imports, described] = await Promise.all([
    mayHaveVariants ? listVariantStates(db, rootId, settings.baseUrl) : [],
    hasPlanning ? readPlanningState(db, rootId) : { plan: null, unmet: [] },
    hasImports ? listImportedConversations(db, session.id, IMPORTS_MAX) : [],
    skills.describe(session.skills),
  ]);
  return { variants, planning, imports, skills: described };
}
