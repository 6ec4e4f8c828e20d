"use client";

import { Component, type ReactNode, useSyncExternalStore } from "react";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";
import { Markdown } from "../ui/markdown.tsx";

/**
 * Renders the Markdown of a report in the browser. The server does not parse the text: a hostile page may have
 * influenced the text so that parsing is slow, and all sessions share the server. The text is shown as it is until
 * hydration, and also if parsing fails or would take too long.
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
