/** A tool call in plain words: what the page shows instead of a function name. */
export type ToolWords = {
  icon:
    | "script"
    | "search"
    | "page"
    | "camera"
    | "file"
    | "folder"
    | "terminal"
    | "globe"
    | "person"
    | "history"
    | "plug"
    | "tool";
  /** While it runs: `Reading the page`. */
  running: string;
  /** Once it has ended: `Read the page`. */
  done: string;
  /** Several of them: `Read the page 3 times`. */
  many: (count: number) => string;
  /** What it was about, cut short: a selector, an address, a path, a command. */
  object: string | null;
};

type Words = Omit<ToolWords, "object" | "many"> & { many?: (count: number) => string };

const PAGE_TOOLS = new Set([
  ...["browser_execute", "browser_search", "dom_query", "inspect_frames"],
  ...["screenshot", "capture_preview", "save_cleaned_html"],
]);

/** Whether a tool works on the live page, and so waits for a browser. */
export const worksOnPage = (toolName: string): boolean => PAGE_TOOLS.has(toolName);

const WORDS: Record<string, Words> = {
  browser_execute: {
    icon: "script",
    running: "Running a script in the page",
    done: "Ran a script in the page",
    many: (count) => `Ran ${count} scripts in the page`,
  },
  browser_search: { icon: "search", running: "Searching the page", done: "Searched the page" },
  dom_query: { icon: "page", running: "Reading the page", done: "Read the page" },
  inspect_frames: { icon: "page", running: "Listing the page’s frames", done: "Listed the page’s frames" },
  screenshot: {
    icon: "camera",
    running: "Taking a screenshot",
    done: "Took a screenshot",
    many: (count) => `Took ${count} screenshots`,
  },
  capture_preview: {
    icon: "camera",
    running: "Capturing a preview",
    done: "Captured a preview",
    many: (count) => `Captured ${count} previews`,
  },
  save_cleaned_html: { icon: "file", running: "Saving the page’s HTML", done: "Saved the page’s HTML" },
  read_file: {
    icon: "file",
    running: "Reading a file",
    done: "Read a file",
    many: (count) => `Read ${count} files`,
  },
  write_file: {
    icon: "file",
    running: "Writing a file",
    done: "Wrote a file",
    many: (count) => `Wrote ${count} files`,
  },
  list_files: { icon: "folder", running: "Listing files", done: "Listed files" },
  run_shell: {
    icon: "terminal",
    running: "Running a command",
    done: "Ran a command",
    many: (count) => `Ran ${count} commands`,
  },
  view_image: {
    icon: "camera",
    running: "Looking at a picture",
    done: "Looked at a picture",
    many: (count) => `Looked at ${count} pictures`,
  },
  fetch_url: {
    icon: "globe",
    running: "Fetching an address",
    done: "Fetched an address",
    many: (count) => `Fetched ${count} addresses`,
  },
  elicit_user_input: { icon: "person", running: "Asking you", done: "Asked you" },
  read_message: { icon: "history", running: "Reading an earlier message", done: "Read an earlier message" },
  list_transcript: {
    icon: "history",
    running: "Looking through the transcript",
    done: "Looked through the transcript",
  },
  search_transcript: {
    icon: "history",
    running: "Searching the transcript",
    done: "Searched the transcript",
  },
  read_tool_result: { icon: "history", running: "Reading a result on", done: "Read a result on" },
  list_evidence: { icon: "history", running: "Listing the evidence", done: "Listed the evidence" },
};

/** Fields of a tool's input that say what it is about, the most telling first. */
const OBJECT_FIELDS = [
  "url",
  "path",
  "query",
  "selector",
  "command",
  "question",
  "text",
  "title",
  "name",
  "code",
  "script",
  "role",
  "device",
];
const OBJECT_CHARACTERS_MAX = 120;

/** Puts a tool call into words. A tool the page does not know is shown by its name. */
export function describeTool(toolName: string, input: unknown): ToolWords {
  const words = WORDS[toolName] ?? describeOther(toolName);
  return {
    ...words,
    many: words.many ?? ((count) => `${words.done}, ${count} times`),
    object: findObject(input),
  };
}

function describeOther(toolName: string): Words {
  const remote = /^mcp_(.+?)__(.+)$/.exec(toolName);
  if (remote) {
    const [, server, tool] = remote;
    return { icon: "plug", running: `Calling ${tool} on ${server}`, done: `Called ${tool} on ${server}` };
  }
  const name = toolName.replaceAll("_", " ");
  return { icon: "tool", running: `Using ${name}`, done: `Used ${name}` };
}

function findObject(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = new Map<string, unknown>(Object.entries(input));
  for (const field of OBJECT_FIELDS) {
    const value = fields.get(field);
    if (typeof value === "string" && value.trim() !== "") return firstLine(value);
  }
  return null;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > OBJECT_CHARACTERS_MAX ? `${line.slice(0, OBJECT_CHARACTERS_MAX)}…` : line;
}
