import { History } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import type { ToolCallView } from "#lib/page/state/view-types.ts";
import { withoutMarks } from "#lib/text/without-marks.ts";
import { useRecording } from "../../runtime/recording-context.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";

/** The page receives at most this many characters of a result. The agent and the API can read the whole result. */
const PREVIEW_CHARACTERS = 2_000;

/** Shows a tool call's input and result. */
export function ToolDetail({
  id,
  callId,
  toolName,
  input,
  call,
}: {
  id: string;
  callId: string;
  toolName: string;
  input: unknown;
  call: ToolCallView | undefined;
}) {
  const code = codeOf(input);
  return (
    <div id={id} className="mt-1 mb-3 ml-2 flex flex-col gap-2 border-l pl-4">
      {call && PAGE_CHANGES.has(toolName) && <MomentButton callId={callId} call={call} />}
      <Part title={`Input · ${toolName}`} copy={code?.text ?? JSON.stringify(input, null, 2) ?? ""}>
        {code === undefined ? (
          <div className="max-h-80 overflow-auto">
            <JsonTree value={input ?? {}} />
          </div>
        ) : (
          <CodeBlock text={code.text} language={code.language} />
        )}
      </Part>
      {call?.preview && (
        <Part title={titleOf(call)} copy={withoutMarks(call.preview)}>
          <CodeBlock
            text={withoutMarks(call.preview)}
            className={call.state === "failed" && !call.refusal && !call.isStopped ? "text-bad" : ""}
          />
          {call.preview.length >= PREVIEW_CHARACTERS && (
            <p className="text-faint text-xs">
              Only the beginning is shown. The full result is stored as{" "}
              <span className="font-mono">{call.resultId}</span>.
            </p>
          )}
        </Part>
      )}
      {call?.state === "unknown" && !call.isStopped && (
        <p className="text-sm text-warn">The call was interrupted. It is unknown whether it took effect.</p>
      )}
    </div>
  );
}

/** Tools that change the page, so that the recording has pictures of their calls. */
const PAGE_CHANGES = new Set(["browser_execute", "apply_variant"]);

/** Shows the page as the call left it. If the recording is shown already, it moves to this moment at once. */
function MomentButton({ callId, call }: { callId: string; call: ToolCallView }) {
  const recording = useRecording();
  const { startedAt, durationMs } = call;
  const follow = recording?.follow;
  const atMs = durationMs === null ? null : Date.parse(startedAt) + durationMs;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the line is opened, or its call ends
  useEffect(() => {
    if (atMs !== null) follow?.({ callId, atMs });
  }, [atMs]);
  if (!recording || atMs === null) return null;
  return (
    <Button size="sm" className="w-fit" onClick={() => recording.open({ callId, atMs })}>
      <History />
      Show the page after this call
    </Button>
  );
}

function titleOf({ state, refusal, isStopped }: ToolCallView): string {
  if (refusal) return "Why it was not run";
  if (isStopped) return "Stopped";
  return state === "failed" ? "Error" : "Result";
}

function Part({ title, copy, children }: { title: string; copy: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1">
      <div className="flex h-6 items-center justify-between">
        <h2 className="text-faint text-xs">{title}</h2>
        <CopyButton text={copy} label={`Copy ${title.toLowerCase()}`} />
      </div>
      {children}
    </section>
  );
}

/**
 * Returns the text of a script or command in the input of a call, so that it can be shown without JSON escapes.
 * Undefined if the input has no such text, or more than two fields.
 */
function codeOf(input: unknown): { text: string; language: string } | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const entries = Object.entries(input);
  const found = entries.find(
    ([field, value]) => ["code", "script", "command"].includes(field) && typeof value === "string",
  );
  if (!found || entries.length > 2) return undefined;
  return { text: String(found[1]), language: found[0] === "command" ? "bash" : "js" };
}
