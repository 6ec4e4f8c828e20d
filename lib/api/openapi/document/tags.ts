import type { Operation } from "../../contract/operation.ts";

/** What the operations are grouped by, in the order in which a reader meets them. */
export const TAGS = [
  { name: "Sessions", description: "Create a session, list and read them." },
  { name: "Requests", description: "Follow what became of a message: poll it, or stream its events." },
  { name: "Agent", description: "Read how the agent stands, say more to it, stop it, answer its questions." },
  { name: "Browser", description: "Query and retarget the live browser." },
  { name: "Records", description: "What a session has said and kept: transcript, annotations, evidence." },
  { name: "Callbacks", description: "The deliveries of lifecycle events, and what became of them." },
  { name: "Tool server", description: "The built-in tool server." },
  { name: "Keys", description: "Make, rotate and revoke API keys, as whoever runs the service." },
  {
    name: "Session page",
    description:
      "What the session page itself calls, with the cookie that a share link becomes. Only these start a person's turn. API keys are refused, and `Origin` is checked.",
  },
  { name: "Service", description: "How the service stands, and what it offers." },
] as const;

type TagName = (typeof TAGS)[number]["name"];

const RULES: [RegExp, TagName][] = [
  [/^\/actions\/keys\b/, "Keys"],
  [/^\/(?:s\/|actions\/)/, "Session page"],
  [/\/(?:requests)\//, "Requests"],
  [/\/(?:agent|queue|elicitations)\b/, "Agent"],
  [/\/browser$/, "Browser"],
  [/\/deliveries\b/, "Callbacks"],
  [/\/mcp/, "Tool server"],
  [/\/(?:messages|annotations|artifacts)\b/, "Records"],
  [/^\/api\/sessions?\b/, "Sessions"],
];

/** The group of an operation, by its path. */
export const tagOf = ({ path }: Pick<Operation, "path">): TagName =>
  RULES.find(([pattern]) => pattern.test(path))?.[1] ?? "Service";
