import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Responder } from "../../fixtures/scripted-model/types.ts";
import type { CreatedSession, RunningService } from "../../fixtures/service.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** The words of a session's first message, from which the content of its files follows. */
export const taskOf = (client: number, nth: number): string => `Work on task-${client}-${nth}.`;

const nameOf = (text: string): string => /task-\d+-\d+/.exec(text)?.[0] ?? "task";
const notesOf = (name: string): string => `The notes of ${name}.\n`.repeat(100);
const madeOf = (name: string): string => `made for ${name}\n`;

/** The file that `write_file` writes, and the file and the picture that a command makes. */
const NOTES = "notes/of/the/task.txt";
const MADE = "made/here.txt";
const PICTURE = "made/picture.png";

/** Answers the model calls of a turn: the agent writes a file, runs a command that makes two, and views a picture. */
export const answerWork: Responder = ({ userText, answersSoFar }) => {
  if (!userText.startsWith("Work")) return { text: "Said." };
  const name = nameOf(userText);
  const calls = [
    { name: "write_file", arguments: { path: NOTES, content: notesOf(name) } },
    {
      name: "run_shell",
      arguments: {
        command: `mkdir made && echo ${PNG.toString("base64")} | base64 -d > ${PICTURE} && printf '${madeOf(name).trim()}\\n' > ${MADE}`,
      },
    },
    { name: "view_image", arguments: { path: PICTURE } },
  ];
  const call = calls[answersSoFar];
  return call ? { toolCalls: [call] } : { text: "Done." };
};

type ToolResult = {
  kind: "tool.result";
  toolName: string;
  state: string;
  preview: string;
  evidence: { id: string }[];
};

/** Reads the results of the tool calls of a session's first turn, which must have ended. */
async function readResults(service: RunningService, { streamUrl }: CreatedSession): Promise<ToolResult[]> {
  const text = await (await service.call("GET", streamUrl)).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as ToolResult | { kind: "other" })
    .filter((event) => event.kind === "tool.result");
}

/**
 * Checks that every file exists that a recorded result of a session's first turn promises.
 *
 * @returns a sentence for each file that is missing or has another content, and the number of checked files.
 */
export async function findLostFiles(
  service: RunningService,
  session: CreatedSession,
  task: string,
): Promise<{ lost: string[]; checked: number }> {
  const { sessionId } = session;
  const name = nameOf(task);
  const lost: string[] = [];
  let checked = 0;
  const check = (what: string, found: Buffer | string, expected: Buffer | string) => {
    checked += 1;
    if (typeof found === "string" ? found !== expected : !found.equals(Buffer.from(expected)))
      lost.push(`${what} of ${sessionId} is lost: ${found.length} bytes instead of ${expected.length}`);
  };
  const readWorkspace = (path: string) =>
    readFile(join(service.dataDir, "workspaces", sessionId, path)).catch(() => Buffer.alloc(0));
  for (const { toolName, state, preview, evidence } of await readResults(service, session)) {
    if (state !== "succeeded") continue;
    if (toolName === "write_file")
      check("the file that the agent wrote", (await readWorkspace(NOTES)).toString(), notesOf(name));
    if (toolName === "run_shell" && preview.includes("[exit code 0")) {
      check("the file that a command made", (await readWorkspace(MADE)).toString(), madeOf(name));
      check("the picture that a command made", await readWorkspace(PICTURE), PNG);
    }
    for (const { id } of evidence) {
      const answer = await service.call("GET", `/api/sessions/${sessionId}/artifacts/${id}`);
      const bytes = answer.ok ? Buffer.from(await answer.arrayBuffer()) : Buffer.alloc(0);
      check(`the picture ${id} (${answer.status})`, bytes, PNG);
    }
  }
  return { lost, checked };
}
