import type { AgentView } from "../state/view-types.ts";
import type { Tone } from "./state-words.ts";

/** What a sub-agent is doing, for the list of sub-agents. */
type AgentWords = {
  tone: Tone;
  title: string;
  /** Its newest report, step or error. */
  detail: string | null;
};

/** Describes the state of a sub-agent. */
export function describeAgent(agent: AgentView): AgentWords {
  switch (agent.status) {
    case "running":
      return { ...describeWork(agent), detail: agent.progress ?? sentence(agent.lastStep) };
    case "succeeded":
      return {
        tone: "good",
        title: "Done",
        detail: agent.submitted
          ? null
          : "It ended without submitting a result. Its last text counts as the result.",
      };
    case "failed":
      return { tone: "bad", title: "Failed", detail: agent.error };
    case "cancelled":
      return { tone: "quiet", title: "Stopped", detail: null };
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
    case null:
      return { tone: "busy", title: lastStep === null ? "Starting" : "Working" };
  }
}

const sentence = (step: string | null): string | null =>
  step && `${step.charAt(0).toUpperCase()}${step.slice(1)}`;
