"use client";

import { useCallback, useEffect, useState } from "react";
import type { TestResult } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** Reads the results of a test run that has ended. */
export function useTestResults(testRunId: string): {
  /** The results of the tests; undefined while they are loading, and if they could not be read. */
  results: TestResult[] | undefined;
  error: string | null;
  retry: () => void;
} {
  const { testResults } = useRuntime();
  const [results, setResults] = useState(() => testResults.peek(testRunId));
  const [error, setError] = useState<string | null>(null);
  const [attempts, setAttempts] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempts` triggers a retry
  useEffect(() => {
    let isCurrent = true;
    void testResults.read(testRunId).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.isDone) setResults(outcome.answer);
      setError(outcome.isDone ? null : outcome.error);
    });
    return () => {
      isCurrent = false;
    };
  }, [testResults, testRunId, attempts]);

  const retry = useCallback(() => setAttempts((count) => count + 1), []);
  return { results, error, retry };
}
