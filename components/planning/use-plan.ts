"use client";

import { useState } from "react";
import type { ActionOutcome } from "#lib/page/actions/call-action.ts";
import { describeAgreement } from "#lib/page/labels/describe-plan.ts";
import type { Plan, PlanEdit } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** Returns the actions that a person can take on the plan, and the error of the last action. */
export function usePlan() {
  const { store, actions } = useRuntime();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function run<Answer>(
    act: () => Promise<ActionOutcome<Answer>>,
    applyAnswer: (answer: Answer) => void,
  ): Promise<boolean> {
    setBusy(true);
    setError(null);
    const outcome = await act();
    setBusy(false);
    if (outcome.isDone) applyAnswer(outcome.answer);
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
          {
            requestId,
            mode: "steer",
            text: describeAgreement(text),
            attachments: [],
            annotations: [],
            author: null,
            createdAt,
          },
          runId,
        );
      },
    );
  return { edit, setMode, agree, isBusy, error };
}

export type PlanUse = ReturnType<typeof usePlan>;
