"use client";

import { Component, type ComponentType, lazy, type ReactNode, Suspense, useState } from "react";
import { Button } from "./button.tsx";

/**
 * Returns a component whose code is loaded when it is first shown. If the code cannot be loaded, for example without a
 * network, a button tries again, and the rest of the page stays.
 *
 * @param load imports the module and returns the component.
 * @param waiting is shown until then. It takes the space of the component, so that nothing moves.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ReactNode = null,
): ComponentType<Props> {
  const start = () => lazy(async () => ({ default: await load() }));
  const first = start();
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each component, at the level of a module
  return function Lazy(props: Props) {
    const [Loaded, setLoaded] = useState(() => first);
    const [attempt, setAttempt] = useState(0);
    const retry = () => {
      setLoaded(start);
      setAttempt(attempt + 1);
    };
    return (
      <LoadBoundary key={attempt} onRetry={retry}>
        <Suspense fallback={waiting}>
          <Loaded {...props} />
        </Suspense>
      </LoadBoundary>
    );
  };
}

/** Catches only the failure of a load. An error of the component itself is thrown again. */
class LoadBoundary extends Component<
  { onRetry: () => void; children: ReactNode },
  { error: Error | undefined }
> {
  override state: { error: Error | undefined } = { error: undefined };
  static getDerivedStateFromError = (error: Error) => ({ error });
  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    if (!isLoadFailure(error)) throw error;
    return (
      <p role="alert" className="flex flex-wrap items-center gap-2 p-3 text-soft text-sm">
        This part of the page could not be loaded.
        <Button size="sm" onClick={this.props.onRetry}>
          Try again
        </Button>
      </p>
    );
  }
}

const isLoadFailure = ({ name, message }: Error): boolean =>
  name === "ChunkLoadError" || /load (chunk|failed)|dynamically imported|loading chunk/i.test(message);
