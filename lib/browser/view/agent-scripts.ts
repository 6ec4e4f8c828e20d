import { createDeadline } from "#lib/time/deadline.ts";

/** A script of the agent that works on a session's page. */
export type AgentScript = {
  /** Fires when a person takes control. */
  signal: AbortSignal;
  /** Returns the name of the person who has interrupted the script. */
  interruptedBy: () => string | undefined;
  /** Call this when nothing of the script reaches the page any more. */
  end: () => void;
};

type Running = { stop: AbortController; by: string | undefined; ended: PromiseWithResolvers<void> };

/** Creates the list of the agent's scripts that run at this host. */
export function createAgentScripts() {
  const running = new Map<string, Set<Running>>();
  const listOf = (sessionId: string) => [...(running.get(sessionId) ?? [])];
  const interrupt = (script: Running, by: string) => {
    script.by ??= by;
    script.stop.abort(new Error("a person took control of the browser"));
  };
  return {
    /** Adds a script. @param by name of the person who has control already: the script may then not begin. */
    begin(sessionId: string, by: string | undefined): AgentScript {
      const script: Running = { stop: new AbortController(), by: undefined, ended: Promise.withResolvers() };
      const scripts = running.get(sessionId) ?? new Set();
      running.set(sessionId, scripts.add(script));
      if (by !== undefined) interrupt(script, by);
      return {
        signal: script.stop.signal,
        interruptedBy: () => script.by,
        end() {
          scripts.delete(script);
          if (scripts.size === 0 && running.get(sessionId) === scripts) running.delete(sessionId);
          script.ended.resolve();
        },
      };
    },
    areRunning: (sessionId: string): boolean => running.has(sessionId),
    /** Interrupts the scripts of a session, and waits for their end. @param ms how long at most. */
    async interrupt(sessionId: string, by: string, ms: number): Promise<void> {
      const scripts = listOf(sessionId);
      for (const script of scripts) interrupt(script, by);
      await createDeadline({ ms }).settles(Promise.all(scripts.map(({ ended }) => ended.promise)));
    },
  };
}
