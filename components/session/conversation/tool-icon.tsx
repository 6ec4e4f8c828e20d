import {
  Camera,
  ClipboardList,
  CloudUpload,
  FileText,
  FlaskConical,
  Folder,
  Globe,
  GraduationCap,
  History,
  ListChecks,
  PanelTop,
  PencilLine,
  Plug,
  Search,
  ShieldCheck,
  SquareCode,
  SquareTerminal,
  UserRound,
  Users,
  Wrench,
} from "lucide-react";
import type { ToolWords } from "#lib/page/labels/describe-tool.ts";

const ICONS = {
  script: SquareCode,
  search: Search,
  page: PanelTop,
  camera: Camera,
  file: FileText,
  folder: Folder,
  terminal: SquareTerminal,
  globe: Globe,
  person: UserRound,
  history: History,
  plug: Plug,
  agents: Users,
  edit: PencilLine,
  check: ShieldCheck,
  publish: CloudUpload,
  report: ClipboardList,
  tests: FlaskConical,
  plan: ListChecks,
  skill: GraduationCap,
  tool: Wrench,
};

/** Shows the icon of a kind of tool. */
export function ToolIcon({ icon }: { icon: ToolWords["icon"] }) {
  const Icon = ICONS[icon];
  return <Icon aria-hidden className="size-4 shrink-0 text-faint" />;
}
