import type { Operation } from "../../contract/operation.ts";

/** Groups of operations, in the order in which the reference page shows them. */
export const TAGS = [
  { name: "Sessions", description: "Create, list, read, delete, export and import sessions." },
  { name: "Requests", description: "Follow a request: poll its status or stream its events." },
  {
    name: "Agent",
    description:
      "Read the agent's status, post follow-up messages, stop the turn and answer the agent's questions.",
  },
  { name: "Browser", description: "Query and retarget the live browser." },
  {
    name: "Skills",
    description: "Read the skills (procedures and scripts) that the agent of a session can use.",
  },
  { name: "Variants", description: "Read the variants of a session's pages, their checks and previews." },
  {
    name: "Publications",
    description: "Publish variants, roll them back, unpublish them, export and import them.",
  },
  { name: "Tests", description: "Read the Playwright test runs of a session and their results." },
  { name: "Reports", description: "Read the QA reports of a session, as JSON or Markdown." },
  {
    name: "Planning",
    description:
      "Read and edit a session's plan and requirements, and set whether a person must agree to the plan before the agent changes anything.",
  },
  {
    name: "Landing pages",
    description:
      "Read the landing pages that agents deployed and their versions, roll pages back and unpublish them.",
  },
  { name: "Files", description: "List, read, write and remove files of a session's workspace." },
  { name: "Records", description: "Read a session's transcript, annotations and evidence." },
  {
    name: "Callbacks",
    description: "Receive run lifecycle events as callbacks, list the deliveries and send them again.",
  },
  { name: "Tool server", description: "Connect an external agent to the built-in MCP server." },
  {
    name: "Keys",
    description: "Create, list, change, rotate and revoke API keys, as the operator of the service.",
  },
  { name: "Logins", description: "List and end logins on the landing page, as the operator of the service." },
  {
    name: "Session page",
    description:
      "Operations that the landing page and the session page call with their cookies. Only these operations start turns that count as started by a person. They refuse API keys and check `Origin`.",
  },
  { name: "Service", description: "Check the service's health and read its OpenAPI document." },
] as const;

type TagName = (typeof TAGS)[number]["name"];

const RULES: [RegExp, TagName][] = [
  [/^\/actions\/keys\b/, "Keys"],
  [/^\/actions\/(?:logins|logout)\b/, "Logins"],
  [/^\/(?:s\/|actions\/)/, "Session page"],
  [/\/pages\b/, "Landing pages"],
  [/^\/api\/sessions\/:sessionId\/(?:export|import|imports)\b/, "Sessions"],
  [/\/(?:requests)\//, "Requests"],
  [/\/(?:agents?|queue|elicitations|inbox)\b/, "Agent"],
  [/\/browser$/, "Browser"],
  [/\/(?:publish|rollback|unpublish|releases|export|import)$|^\/v\/|\/publications\b/, "Publications"],
  [/\/(?:variants|previews)\b/, "Variants"],
  [/\/reports\b/, "Reports"],
  [/\/tests\b/, "Tests"],
  [/\/(?:plan|requirements)\b/, "Planning"],
  [/\/files\b/, "Files"],
  [/\/skills$/, "Skills"],
  [/\/deliveries\b/, "Callbacks"],
  [/\/mcp/, "Tool server"],
  [/\/(?:messages|annotations|artifacts)\b/, "Records"],
  [/^\/api\/sessions?\b/, "Sessions"],
];

/** Returns the group of an operation, according to its path. */
export const tagOf = ({ path }: Pick<Operation, "path">): TagName =>
  RULES.find(([pattern]) => pattern.test(path))?.[1] ?? "Service";
