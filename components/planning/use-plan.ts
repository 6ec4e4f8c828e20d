"use client";

import { useState } from "react";
import type { ActionOutcome } from "#lib/page/calls/call-action.ts";
import type { Plan, PlanEdit } from "#lib/page/state/view-types.ts";
import { describeAgreement } from "#lib/page/words/describe-plan.ts";
import { useRuntime } from "../session/session-context.tsx";

/** What a person does with the plan, and why the service refused the last of it. */
export function usePlan() {
  const { store, actions } = useRuntime();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function run<Answer>(
    work: () => Promise<ActionOutcome<Answer>>,
    note: (answer: Answer) => void,
  ): Promise<boolean> {
    setBusy(true);
    setError(null);
    const outcome = await work();
    setBusy(false);
    if (outcome.isDone) note(outcome.answer);
    else setError(outcome.error);
    return outcome.isDone;
  }
  const edit = (change: PlanEdit) => run(() => actions.editPlan([change]), store.mergePlan);
  const setMode = (mode: "off" | "plan_first") => run(() => actions.setPlanMode(mode), store.mergePlan);
  const agree = ({ revision }: Plan, text: string) =>
    run(
      () => actions.agreePlan(revision, text),
      ({ requestId, runId }) => {
        const createdAt = new Date().toISOString();
        store.addAcceptedMessage(
          { requestId, mode: "steer", text: describeAgreement(text), author: null, createdAt },
          runId,
        );
      },
    );
  return { edit, setMode, agree, isBusy, error };
}

export type PlanUse = ReturnType<typeof usePlan>;
