import type { AgentView } from "../state/view-types.ts";
import { describeTool } from "./describe-tool.ts";
import type { Tone } from "./state-words.ts";

/** The state of a sub-agent in words, for the list of sub-agents. */
type AgentWords = {
  tone: Tone;
  title: string;
  /**
   * For a running sub-agent: the progress that it reported last. For a successful sub-agent: a note if it submitted no
   * result. For a failed sub-agent: the error. Otherwise null.
   */
  detail: string | null;
  /** The current or last step of a running sub-agent. Null if the sub-agent has not begun a step or is not running. */
  step: string | null;
};

/** Describes the state of a sub-agent. */
export function describeAgent(agent: AgentView): AgentWords {
  switch (agent.status) {
    case "running":
      return { ...describeWork(agent), detail: agent.progress, step: describeStep(agent.lastStep) };
    case "succeeded":
      return {
        tone: "good",
        title: "Done",
        detail: agent.submitted ? null : "It submitted no result. Its last text counts as the result.",
        step: null,
      };
    case "failed":
      return { tone: "bad", title: "Failed", detail: agent.error, step: null };
    case "cancelled":
      return { tone: "quiet", title: "Stopped", detail: null, step: null };
  }
}

function describeWork({ waitingOn, lastStep }: AgentView): Pick<AgentWords, "tone" | "title"> {
  switch (waitingOn) {
    case "person":
      return { tone: "attention", title: "Waiting for an answer" };
    case "control":
      return { tone: "attention", title: "Waiting for control" };
    case "agents":
      return { tone: "busy", title: "Waiting for sub-agents" };
    case "tests":
      return { tone: "busy", title: "Waiting for test results" };
    case "budget":
      return { tone: "attention", title: "Budget used up" };
    case null:
      return { tone: "busy", title: lastStep === null ? "Starting" : "Working" };
  }
}

/**
 * Replaces the tool name in a step with plain words. The service describes steps with tool names, such as `called
 * dom_query`.
 */
function describeStep(step: string | null): string | null {
  const [, tense, tool] = /^(calls|called) (\S+)$/.exec(step ?? "") ?? [];
  if (tool !== undefined) return describeTool(tool, null)[tense === "calls" ? "running" : "done"];
  return step && `${step.charAt(0).toUpperCase()}${step.slice(1)}`;
}
