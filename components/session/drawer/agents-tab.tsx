"use client";

import { Square, Users } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { describeAgent } from "#lib/page/labels/describe-agent.ts";
import type { AgentView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { useStoredAddress } from "../../runtime/use-stored-address.ts";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { EmptyNote } from "../../ui/empty-note.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { StatusDot } from "../../ui/status-dot.tsx";

/**
 * The indent for each level of the tree of sub-agents, beginning with the top level. The last indent also applies to
 * all deeper levels.
 */
const INDENTS = ["pl-4", "pl-10", "pl-16", "pl-22", "pl-28"];

/**
 * Lists the sub-agents below the session, each with its state, its last step, a picture of its page, and its result.
 */
export function AgentsTab() {
  const { agents, agent } = useSession();
  if (agents.length === 0)
    return (
      <EmptyNote icon={<Users />} title="No sub-agents yet">
        Sub-agents that the agent starts appear here.
      </EmptyNote>
    );
  const top = Math.min(...agents.map(({ depth }) => depth));
  return (
    <ul aria-label={agent ? `Sub-agents of ${agent.name}` : "Sub-agents"} className="flex flex-col divide-y">
      {inTreeOrder(agents).map((each) => (
        <li key={each.agentId} className={cn("py-3 pr-4", INDENTS[each.depth - top] ?? INDENTS.at(-1))}>
          <AgentRow agent={each} />
        </li>
      ))}
    </ul>
  );
}

function AgentRow({ agent }: { agent: AgentView }) {
  const { paths } = useSession();
  const { tone, title, detail, step } = describeAgent(agent);
  return (
    <div className="flex items-start gap-3">
      {agent.browser !== "none" && <Thumbnail agent={agent} />}
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex items-center gap-2">
          <Link
            href={`${paths.agents}/${agent.agentId}`}
            className="min-w-0 truncate rounded-sm font-medium text-accent-strong hover:underline"
          >
            {agent.name}
          </Link>
          <StatusDot tone={tone} />
          <span className="shrink-0 text-soft">{title}</span>
        </p>
        <p dir="auto" title={agent.objective} className="line-clamp-2 text-faint [overflow-wrap:anywhere]">
          {agent.objective}
        </p>
        {detail && <p className="line-clamp-2 text-soft [overflow-wrap:anywhere]">{detail}</p>}
        {step && <p className="truncate text-faint">{step}</p>}
        {agent.result !== undefined && <AgentResult agent={agent} />}
      </div>
      {agent.status === "running" && <StopAgent agent={agent} />}
    </div>
  );
}

function AgentResult({ agent }: { agent: AgentView }) {
  return (
    <details className="mt-1">
      <summary className="w-fit cursor-pointer rounded-sm text-faint text-xs hover:text-ink">Result</summary>
      <div className="mt-1 max-h-64 overflow-auto rounded-md border bg-sunken p-2">
        {agent.isResultCut ? (
          <CodeBlock text={`${agent.result}…`} />
        ) : (
          <JsonTree value={agent.result ?? null} />
        )}
      </div>
    </details>
  );
}

/** Shows the last picture of the page that the sub-agent works on. */
function Thumbnail({ agent }: { agent: AgentView }) {
  const { paths } = useSession();
  const { agentId, name, browser, pictureTakenAt } = agent;
  const address = useStoredAddress(
    pictureTakenAt && `${paths.agents}/${agentId}/live/picture?at=${encodeURIComponent(pictureTakenAt)}`,
  );
  return (
    <span className="relative block aspect-[16/10] w-28 shrink-0 overflow-hidden rounded-md border bg-sunken max-sm:w-20">
      {pictureTakenAt ? (
        // biome-ignore lint/performance/noImgElement: only the visitor's own browser has the cookie for this picture
        <img
          src={address}
          alt={browser === "shared" ? `The shared page of ${name}` : `The page of ${name}`}
          decoding="async"
          className="size-full object-cover object-top"
        />
      ) : (
        <span className="flex size-full items-center justify-center px-1 text-center text-2xs text-faint">
          No picture yet
        </span>
      )}
    </span>
  );
}

function StopAgent({ agent: { agentId, name } }: { agent: AgentView }) {
  const { actions, store } = useRuntime();
  const { role } = useSession();
  const [isStopping, setStopping] = useState(false);
  const [error, setError] = useState<string | null>(null);
  if (role !== "drive") return null;

  async function stop(): Promise<void> {
    setStopping(true);
    setError(null);
    const outcome = await actions.cancelAgent(agentId);
    setStopping(false);
    if (!outcome.isDone) return setError(outcome.error);
    const listed = await actions.readAgents();
    if (listed.isDone) store.replaceAgents(listed.answer);
  }
  return (
    <div className="flex shrink-0 flex-col items-end gap-1">
      <Button size="sm" variant="outline" disabled={isStopping} onClick={stop}>
        <Square aria-hidden className="fill-current" /> Stop
        <span className="sr-only"> {name}</span>
      </Button>
      {error && (
        <p role="alert" className="max-w-40 text-right text-bad text-xs">
          {error}
        </p>
      )}
    </div>
  );
}

/** Sorts the sub-agents as a tree: each parent is directly before the sub-agents below it. */
function inTreeOrder(agents: AgentView[]): AgentView[] {
  const ids = new Set(agents.map(({ agentId }) => agentId));
  const withBelow = (agent: AgentView): AgentView[] => [
    agent,
    ...agents.filter(({ parentId }) => parentId === agent.agentId).flatMap(withBelow),
  ];
  return agents.filter(({ parentId }) => !ids.has(parentId)).flatMap(withBelow);
}
