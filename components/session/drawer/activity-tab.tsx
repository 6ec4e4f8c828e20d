"use client";

import type { ReactNode } from "react";
import { formatDuration } from "#lib/page/labels/format.ts";
import { STATE_WORDS, stateOfRun } from "#lib/page/labels/state-words.ts";
import type { RunView } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Age, ClockTime } from "../../ui/time.tsx";
import { DeliveryLog } from "./delivery-log.tsx";

const ORIGINS: Record<RunView["origin"], string> = {
  person: "typed on this page",
  external: "sent by a program",
  continuation: "continued by the agent",
  retry: "automatic retry",
  subagent: "sub-agent",
};

/** Shows the runs, callbacks and properties of the session. */
export function ActivityTab() {
  const { session, runs, model, toolCalls, deliverables } = useSession();
  const callsOf = (runId: string) => Object.values(toolCalls).filter((call) => call.runId === runId).length;
  return (
    <div className="flex flex-col gap-4 p-4 text-sm">
      <table className="w-full tabular-nums">
        <caption className="sr-only">Runs</caption>
        <thead className="text-left text-faint text-xs">
          <tr>
            <th className="pb-1 font-normal">Run</th>
            <th className="pb-1 font-normal">Started</th>
            <th className="pb-1 font-normal max-sm:hidden">Reason</th>
            <th className="pb-1 text-right font-normal">Calls</th>
            <th className="pb-1 text-right font-normal">Time</th>
          </tr>
        </thead>
        <tbody>
          {runs.toReversed().map((run) => (
            <tr key={run.runId} className="h-8 border-t">
              <td>
                <RunBadge words={STATE_WORDS[stateOfRun(run, deliverables)]} />
                {run.attempt > 1 && <span className="pl-2 text-faint text-xs">attempt {run.attempt}</span>}
              </td>
              <td className="text-soft">{run.startedAt ? <ClockTime iso={run.startedAt} /> : "–"}</td>
              <td className="text-soft max-sm:hidden">{ORIGINS[run.origin]}</td>
              <td className="text-right text-soft">{callsOf(run.runId)}</td>
              <td className="text-right text-soft">{runTime(run)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DeliveryLog />
      <dl className="grid grid-cols-[96px_minmax(0,1fr)] items-center gap-y-1 border-t pt-3">
        <Fact name="Session">
          <span className="truncate font-mono text-xs">{session.id}</span>
          <CopyButton text={session.id} label="Copy the session’s id" />
        </Fact>
        <Fact name="Started">
          <Age iso={session.createdAt} />
        </Fact>
        <Fact name="Source">{session.source}</Fact>
        <Fact name="Model">{model.label}</Fact>
        {session.targetUrl && (
          <Fact name="Target">
            <span className="truncate">{session.targetUrl}</span>
          </Fact>
        )}
      </dl>
    </div>
  );
}

const RunBadge = ({ words }: { words: (typeof STATE_WORDS)[keyof typeof STATE_WORDS] }) => (
  <Badge tone={words.tone}>{words.title}</Badge>
);

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="flex min-h-6 min-w-0 items-center gap-1 text-soft">{children}</dd>
    </>
  );
}

const runTime = ({ startedAt, endedAt }: RunView): string =>
  startedAt && endedAt ? formatDuration(Date.parse(endedAt) - Date.parse(startedAt)) : "–";
