import type { RecordedRequest, Step } from "../../fixtures/scripted-model/types.ts";
import { readTag, type Tag } from "../world/tag.ts";
import { cutIntoPieces } from "./cut-into-pieces.ts";
import { readPrompt } from "./read-prompt.ts";
import { importCall, workCalls } from "./work-calls.ts";

/** The tool of the oracle's tool server, as sessions of the campaign name that. */
const NOTE_TOOL = "mcp_notes__note";
/** What the first structured answer says, so that the correction is told from it. */
const FIRST_TRY = "FIRST-TRY";
const CHUNK_DELAY_MS = 8;
/** Time in which a call is under way and nothing of its answer has come. */
const FIRST_BYTE_MS = 10;
/** Steps of a turn whose context has to be compacted, and what each says: more than the context holds. */
const LONG_STEPS = 18;
const LONG_TEXT = "finding ".repeat(400);

/**
 * The whole behaviour of the oracle's model: a pure function of the request, but for the faults that happen on the
 * first calls of a session and then no more.
 *
 * @param pageUrl address of the oracle's pages.
 */
export function createModelPlan(pageUrl: string) {
  const faultsMade = new Map<string, number>();

  /** Whether a fault that happens `times` times for a session is still to happen. */
  function isDue(tag: Tag, times: number): boolean {
    const made = faultsMade.get(tag.nonce) ?? 0;
    faultsMade.set(tag.nonce, made + 1);
    return made < times;
  }

  return (request: RecordedRequest): Step | undefined => {
    if (request.kind === "probe") return { text: "{", finish: "length", delayMs: 30 };
    if (readPrompt(request.text, request.body.input).isSummary) return summarize(request.text);
    const child = /^CHILD (\w+)/.exec(request.userText)?.[1];
    if (child !== undefined) return answerChild(child);
    const tag = readTag(request.text);
    if (!tag) return { status: 400, message: "a request that the campaign did not make" };
    if (request.kind === "structured") return answerStructured(request, tag, isDue);
    const [kind = "", fault = "", argument = ""] = tag.kind.split(":");
    if (kind === "model" && request.answersSoFar === 0) {
      const step = breakAnswer(fault, argument, (times) => isDue(tag, times));
      if (step) return step;
    }
    return answerTurn(kind, tag, request, pageUrl);
  };
}

/** A sub-agent's turn: it submits its result at once. */
const answerChild = (nonce: string): Step => ({
  delayMs: 60,
  toolCalls: [{ name: "submit_result", arguments: { result: { nonce } }, id: `call_${nonce}_r` }],
});

function answerTurn(kind: string, tag: Tag, request: RecordedRequest, pageUrl: string): Step {
  const { answersSoFar } = request;
  const say = (text: string): Step => ({
    textChunks: cutIntoPieces(text, 8),
    chunkDelayMs: CHUNK_DELAY_MS,
    delayMs: FIRST_BYTE_MS,
  });
  const shell = (command: string) => ({
    name: "run_shell",
    arguments: { command },
    id: `call_${tag.nonce}_s`,
  });
  const fetchPage = {
    name: "fetch_url",
    arguments: { url: `${pageUrl}/page/${tag.nonce}` },
    id: `call_${tag.nonce}_f`,
  };
  if (kind === "tools" || kind === "structured" || kind === "many") {
    if (answersSoFar === 0)
      return {
        ...say("First I run a command."),
        toolCalls: [shell(`echo ${tag.nonce} $(date +%s%3N) >> ran.txt; sleep 0.1`)],
      };
    if (answersSoFar === 1) return { ...say("Then I fetch a page."), toolCalls: [fetchPage] };
  }
  // Where its server was skipped, the tool is not among those that are offered.
  if (kind === "mcp" && answersSoFar === 0 && JSON.stringify(request.body.tools ?? []).includes(NOTE_TOOL))
    return {
      toolCalls: [{ name: NOTE_TOOL, arguments: { nonce: tag.nonce }, id: `call_${tag.nonce}_n` }],
    };
  if (kind === "delegate" && answersSoFar === 0) {
    const agents = ["a", "b"].map((letter) => ({ objective: `CHILD ${tag.nonce}${letter}` }));
    return { toolCalls: [{ name: "spawn_agents", arguments: { agents }, id: `call_${tag.nonce}_a` }] };
  }
  if (kind === "delegate" && answersSoFar === 1)
    return { toolCalls: [{ name: "wait_for_agents", arguments: {}, id: `call_${tag.nonce}_w` }] };
  // Two questions beside a command, then a third one.
  if (kind === "ask" && answersSoFar < 2) {
    const elicit = (nth: number) => ({
      name: "elicit_user_input",
      arguments: { question: `Question ${nth} of ${tag.nonce}?` },
      id: `call_${tag.nonce}_q${nth}`,
    });
    const command = shell(`echo ${tag.nonce} $(date +%s%3N) >> ran.txt`);
    return answersSoFar === 0
      ? { ...say("I ask."), toolCalls: [elicit(1), command, elicit(2)] }
      : { toolCalls: [elicit(3)] };
  }
  if (kind === "edit" || kind === "publish") {
    const call = editCalls(tag.nonce, `${pageUrl}/page/${tag.nonce}`, kind)[answersSoFar];
    if (call) return { toolCalls: [call] };
  }
  if (kind === "work") {
    const call = workCalls(tag.nonce, `${pageUrl}/page/${tag.nonce}`, request.text)[answersSoFar];
    if (call) return { toolCalls: [call] };
  }
  if (kind === "import" && answersSoFar === 0)
    return { toolCalls: [importCall(tag.nonce, `${pageUrl}/page/${tag.nonce}`)] };
  const steps = kind === "long" ? countSteps(request.text, tag.nonce) : LONG_STEPS;
  if (steps < LONG_STEPS) {
    const name = `${tag.nonce}${steps + 1}`;
    return {
      text: `Step ${steps + 1} of ${tag.nonce}: ${LONG_TEXT}`,
      toolCalls: [{ ...shell(`echo ${name} $(date +%s%3N) >> ran.txt`), id: `call_${name}` }],
    };
  }
  if (kind === "slow-shell" && answersSoFar === 0)
    return { toolCalls: [shell(`echo ${tag.nonce} $(date +%s%3N) >> ran.txt; sleep 3`)] };
  if (kind === "browser" && answersSoFar === 0) {
    const code = `await page.goto(${JSON.stringify(`${pageUrl}/page/${tag.nonce}`)}); return await page.title();`;
    return {
      toolCalls: [{ name: "browser_execute", arguments: { script: code }, id: `call_${tag.nonce}_b` }],
    };
  }
  return say(`That is done, all of it, as it was asked for: ${tag.nonce}.`);
}

/** The calls of a turn that edits a page: open it, change it, check it, then show or publish it. */
const editCalls = (nonce: string, url: string, kind: "edit" | "publish") => [
  {
    name: "browser_execute",
    arguments: { script: `await page.goto(${JSON.stringify(url)})` },
    id: `call_${nonce}_b`,
  },
  {
    name: "apply_variant",
    arguments: {
      variant: nonce,
      baseRevision: 0,
      add: [{ op: "insert", selector: "body", position: "start", html: `<p>${nonce}</p>` }],
    },
    id: `call_${nonce}_v`,
  },
  { name: "check_variant", arguments: { variant: nonce, viewports: ["desktop"] }, id: `call_${nonce}_c` },
  kind === "publish"
    ? { name: "publish_variant", arguments: { variant: nonce }, id: `call_${nonce}_u` }
    : {
        name: "set_previews",
        arguments: { previews: [{ title: nonce, url, variant: nonce }] },
        id: `call_${nonce}_p`,
      },
];

/** How many steps of a message's turn a prompt tells of: by its own words, or those of a summary. */
const countSteps = (text: string, nonce: string): number =>
  Math.max(
    0,
    ...[...text.matchAll(new RegExp(`Step (\\d+) of ${nonce}`, "g"))].map(([, step]) => Number(step)),
  );

/** A summary that tells how far each turn has come. */
function summarize(text: string): Step {
  const nonces = new Set([...text.matchAll(/Step \d+ of ([a-z]+)/g)].map(([, nonce = ""]) => nonce));
  const told = [...nonces].map((nonce) => `Step ${countSteps(text, nonce)} of ${nonce} is done.`);
  return { text: `A summary. ${told.join(" ")}`, delayMs: 40 };
}

function answerStructured(
  request: RecordedRequest,
  tag: Tag,
  isDue: (tag: Tag, times: number) => boolean,
): Step {
  const good = { name: `name of ${tag.nonce}`, tags: ["one", "two"] };
  const bad = { name: FIRST_TRY, tags: [] };
  const send = (value: unknown): Step => ({
    textChunks: cutIntoPieces(JSON.stringify(value), 6),
    chunkDelayMs: CHUNK_DELAY_MS,
  });
  const [kind = "", fault = ""] = tag.kind.split(":");
  if (kind === "model") {
    if (fault === "structured-refusal") return { finish: "refusal", refusal: "I will not." };
    if (fault === "structured-length") return { textChunks: ['{"name":'], finish: "length" };
    if (fault === "structured-500" && isDue(tag, 1)) return { status: 500, message: "upstream is down" };
    if (fault === "structured-not-json") return { text: "not json at all" };
    if (fault === "wrong-twice") return send(bad);
  }
  return send(request.text.includes(FIRST_TRY) ? good : bad);
}

/** A model fault; undefined once it has happened often enough. */
function breakAnswer(fault: string, argument: string, isDue: (times: number) => boolean): Step | undefined {
  const text =
    "An answer that is long enough to be cut somewhere in its middle, by whoever wants to. ".repeat(3);
  switch (fault) {
    case "429":
      return isDue(2) ? { status: 429, message: "too many requests" } : undefined;
    case "429-retry-after":
      return isDue(1)
        ? { status: 429, message: "too many requests", headers: { "retry-after": "2" } }
        : undefined;
    case "500":
      return isDue(2) ? { status: 500, message: "upstream is down" } : undefined;
    case "500-always":
      return { status: 500, message: "upstream is down" };
    case "400":
      return { status: 400, message: "that model does not exist" };
    case "cut":
      return isDue(1) ? { text, cutAfterBytes: Number(argument) } : undefined;
    case "cut-cleanly":
      return isDue(1) ? { text, cutAfterBytes: Number(argument), cutCleanly: true } : undefined;
    case "slow":
      return isDue(1) ? { textChunks: [..."slow answer"], chunkDelayMs: 1_000 } : undefined;
    case "bad-arguments":
      return isDue(1) ? { toolCalls: [{ name: "run_shell", arguments: '{"command": "echo' }] } : undefined;
    case "unknown-tool":
      return isDue(1) ? { toolCalls: [{ name: "no_such_tool", arguments: {} }] } : undefined;
    case "not-json":
      return isDue(1) ? { status: 502, body: "<html>bad gateway</html>" } : undefined;
    case "refusal":
      return { finish: "refusal" };
    case "length":
      return { text: "This is cut", finish: "length" };
    case "failed":
      return isDue(1) ? { text, failure: { code: "server_error", message: "broke off" } } : undefined;
    default:
      return undefined;
  }
}
