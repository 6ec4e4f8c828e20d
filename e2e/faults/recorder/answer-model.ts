import type { RecordedRequest, Step } from "../../fixtures/scripted-model/types.ts";
import { readTag, type Tag } from "../world/tag.ts";
import { browserCall } from "./browser-calls.ts";
import { cutIntoPieces } from "./cut-into-pieces.ts";
import { readPrompt } from "./read-prompt.ts";
import { importCall, workCalls } from "./work-calls.ts";

/** The name under which the sessions of the campaign see the tool `note` of the recorder's tool server. */
const NOTE_TOOL = "mcp_notes__note";
/** A text in the first structured answer, which is invalid. A prompt that contains this text asks for a correction. */
const FIRST_TRY = "FIRST-TRY";
const CHUNK_DELAY_MS = 8;
/** Delay before the first byte of an answer. During the delay, the service can be killed while a model call is open. */
const FIRST_BYTE_MS = 10;
/** The number of steps in a turn of the kind `long`. Together, the texts of the steps exceed the context. */
const LONG_STEPS = 18;
const LONG_TEXT = "finding ".repeat(400);

/**
 * Creates the function that answers the calls of the recorder's model. The answer depends only on the request, except for
 * faults that occur only in the first calls for a message.
 *
 * @param pageUrl the address at which the recorder serves its pages.
 */
export function createModelPlan(pageUrl: string) {
  const faultCounts = new Map<string, number>();

  /** Whether the fault has occurred fewer than `times` times for this message. Each call counts as an occurrence. */
  function isDue(tag: Tag, times: number): boolean {
    const count = faultCounts.get(tag.nonce) ?? 0;
    faultCounts.set(tag.nonce, count + 1);
    return count < times;
  }

  return (request: RecordedRequest): Step | undefined => {
    if (request.kind === "probe") return { text: "{", finish: "length", delayMs: 30 };
    if (readPrompt(request.text, request.body.input).isSummary) return summarize(request.text);
    const child = /^CHILD (\w+)/.exec(request.userText)?.[1];
    if (child !== undefined) return answerChild(child);
    const tag = readTag(request.text);
    if (!tag) return { status: 400, message: "a request that is not from the campaign" };
    if (request.kind === "structured") return answerStructured(request, tag, isDue);
    const [kind = "", fault = "", argument = ""] = tag.kind.split(":");
    if (kind === "model" && request.answersSoFar === 0) {
      const step = breakAnswer(fault, argument, (times) => isDue(tag, times));
      if (step) return step;
    }
    return answerTurn(kind, tag, request, pageUrl);
  };
}

/** Answers a sub-agent's turn: the sub-agent submits its result at once. */
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
  // The tool is missing from the request if the service skipped the tool server.
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
  // The first step asks two questions and runs a command. The second step asks a third question.
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
  const call = browserCall(tag, request, pageUrl);
  if (call) return { toolCalls: [call] };
  return say(`That is done, all of it, as it was asked for: ${tag.nonce}.`);
}

/**
 * Lists the tool calls of a turn that opens a page, applies a variant and checks the variant. The last call sets a
 * preview or publishes the variant.
 */
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

/** Returns the number of the last step that the prompt mentions for a message, in agent messages or in a summary. */
const countSteps = (text: string, nonce: string): number =>
  Math.max(
    0,
    ...[...text.matchAll(new RegExp(`Step (\\d+) of ${nonce}`, "g"))].map(([, step]) => Number(step)),
  );

/** Answers a summary request with the number of the last step of each turn. */
function summarize(text: string): Step {
  const nonces = new Set([...text.matchAll(/Step \d+ of ([a-z]+)/g)].map(([, nonce = ""]) => nonce));
  const progress = [...nonces].map((nonce) => `Step ${countSteps(text, nonce)} of ${nonce} is done.`);
  return { text: `A summary. ${progress.join(" ")}`, delayMs: 40 };
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

/**
 * Returns the answer that simulates `fault` in a turn. Returns undefined if the fault has been simulated often enough,
 * or if it affects only structured answers (such as `structured-500`).
 */
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
