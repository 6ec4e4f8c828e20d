"use client";

import { Component, type ReactNode, useSyncExternalStore } from "react";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";
import { Markdown } from "../ui/markdown.tsx";

/**
 * Markdown of a report. A hostile page may have influenced its text, so the server, which all sessions share, does not
 * parse it. It is shown as plain text until hydration, and if parsing would be too costly or fails.
 */
export function ReportText({ text }: { text: string }) {
  const isHydrated = useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );
  const plain = <p className="prose-agent whitespace-pre-wrap">{text}</p>;
  if (!isHydrated || isCostlyMarkdown(text)) return plain;
  return (
    <PlainOnFailure plain={plain}>
      <Markdown text={text} />
    </PlainOnFailure>
  );
}

class PlainOnFailure extends Component<{ plain: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.plain : this.props.children;
  }
}
