import { type ActionOutcome, callAction } from "./call-action.ts";

/** The fields of the creation request that the landing page sends. Source: specification, Session creation request. */
type StartRequest = {
  messages: { role: "user"; parts: { type: "text"; text: string }[] }[];
  targetUrl?: string;
  outputSchema?: Record<string, unknown>;
  subAgents?: true;
};

/** The values of the start form. */
type StartValues = {
  task: string;
  /** The page to open; empty for a session without a target page. */
  targetUrl: string;
  /** The schema of the structured result; undefined for a session without a structured result. */
  outputSchema: Record<string, unknown> | undefined;
  mayDelegate: boolean;
};

/** Starts a session from the landing page. */
export const startSession = (
  request: StartRequest,
  fetcher: typeof fetch = (...call) => fetch(...call),
): Promise<ActionOutcome<{ sessionId: string; shareUrl: string }>> =>
  callAction(fetcher, "POST", "/actions/sessions", request);

/** Composes the creation request from the values of the form. Omits fields that are empty or switched off. */
export const composeRequest = ({
  task,
  targetUrl,
  outputSchema,
  mayDelegate,
}: StartValues): StartRequest => ({
  messages: [{ role: "user", parts: [{ type: "text", text: task }] }],
  ...(targetUrl ? { targetUrl } : {}),
  ...(outputSchema ? { outputSchema } : {}),
  ...(mayDelegate ? { subAgents: true } : {}),
});

/** Composes a curl command that sends the request, for a POSIX shell. The API key comes from the environment. */
export function composeCurl(baseUrl: string, request: StartRequest): string {
  const [message] = request.messages;
  const text = message?.parts[0]?.text ?? "";
  const fields = [
    `"messages": [{ "role": "user", "parts": [{ "type": "text", "text": ${JSON.stringify(text)} }] }]`,
    ...(request.targetUrl ? [`"targetUrl": ${JSON.stringify(request.targetUrl)}`] : []),
    ...(request.outputSchema
      ? [`"outputSchema": ${indent(JSON.stringify(request.outputSchema, null, 2))}`]
      : []),
    ...(request.subAgents ? [`"subAgents": true`] : []),
  ];
  const body = `{\n  ${fields.join(",\n  ")}\n}`.replaceAll("'", `'\\''`);
  return [
    `curl -sS ${baseUrl}/api/session \\`,
    `  -H "Authorization: Bearer $API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body}'`,
  ].join("\n");
}

const indent = (text: string): string => text.replaceAll("\n", "\n  ");

/**
 * Finds the form field that an error of the API is about, if the error begins with the name of a field of the request.
 * Undefined for other errors.
 */
export function fieldOfError(error: string): "task" | "targetUrl" | "outputSchema" | undefined {
  if (/^messages\b/.test(error)) return "task";
  if (/^targetUrl\b/.test(error)) return "targetUrl";
  if (/^outputSchema\b/.test(error)) return "outputSchema";
  return undefined;
}
