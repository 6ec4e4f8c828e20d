"use client";

import { Component, type ReactNode, useSyncExternalStore } from "react";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";
import { Markdown } from "../ui/markdown.tsx";

/**
 * Renders the Markdown of a report. A hostile page may have influenced the text, so the server, which all sessions share,
 * does not parse it. The text is shown unrendered until hydration, and if parsing it fails or would take too long.
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
