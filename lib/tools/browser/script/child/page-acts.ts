import type { PageAction } from "#lib/events/page-action-schema.ts";

/** The calls of Playwright's client that do something to the page, and what a person would say that they do. */
export const ACTS: Record<string, PageAction["did"]> = {
  goto: "opened",
  reload: "reloaded",
  goBack: "went_back",
  goForward: "went_forward",
  click: "clicked",
  dblclick: "clicked",
  tap: "clicked",
  mouseClick: "clicked",
  touchscreenTap: "clicked",
  hover: "hovered",
  fill: "filled",
  type: "filled",
  selectOption: "chose",
  check: "checked",
  uncheck: "unchecked",
  setInputFiles: "uploaded",
  dragAndDrop: "dragged",
  keyboardType: "typed",
  keyboardInsertText: "typed",
  press: "pressed",
  keyboardPress: "pressed",
};
