/** The parts of the landing page that read themselves again. They are loaded together, after the page. */
export { InboxSection } from "../inbox/inbox-section.tsx";
export { SessionList } from "./session-list.tsx";
