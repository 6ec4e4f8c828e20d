/** The overlay's style sheet, as CSS text. */
export const overlayStyles = `
:host { all: initial; }
* { box-sizing: border-box; margin: 0; font: 13px/1.4 ui-sans-serif, system-ui, "Segoe UI", sans-serif; }
[hidden] { display: none !important; }
.catcher { position: fixed; inset: 0; z-index: 2147483645; cursor: crosshair; }
.outline { position: fixed; top: 0; left: 0; z-index: 2147483645; pointer-events: none; border-radius: 4px;
  outline: 2px solid #6d5efc; background: rgb(109 94 252 / .10); }
.tag { position: absolute; left: -2px; bottom: calc(100% + 4px); max-width: 320px; padding: 1px 7px; overflow: hidden;
  color: #fff; background: #6d5efc; border-radius: 4px; font-size: 11px; white-space: nowrap; text-overflow: ellipsis; }
.tag.inside { bottom: auto; top: 4px; left: 4px; }
.dock { position: fixed; right: 14px; bottom: 14px; z-index: 2147483646; display: flex; flex-direction: column;
  align-items: flex-end; gap: 8px; pointer-events: none; }
.dock > * { pointer-events: auto; }
button { appearance: none; border: 0; cursor: pointer; font-weight: 550; }
button:focus-visible, textarea:focus-visible { outline: 2px solid #9d93ff; outline-offset: 1px; }
.pill { padding: 6px 13px; color: #f5f5f7; background: rgb(24 24 27 / .88); border-radius: 999px; font-size: 12px;
  box-shadow: 0 0 0 1px rgb(255 255 255 / .12), 0 3px 12px rgb(0 0 0 / .22); opacity: .82; }
.pill:hover, .pill:focus-visible { opacity: 1; }
.pill.active { background: #6d5efc; opacity: 1; }
.card { width: 280px; padding: 10px; color: #f5f5f7; background: rgb(24 24 27 / .97); border-radius: 10px;
  box-shadow: 0 0 0 1px rgb(255 255 255 / .12), 0 8px 28px rgb(0 0 0 / .32); }
.editor { position: fixed; top: 0; left: 0; z-index: 2147483646; }
.title { overflow: hidden; color: #a1a1aa; font-size: 11px; white-space: nowrap; text-overflow: ellipsis; }
.comment { display: block; width: 100%; height: 64px; margin: 6px 0 8px; padding: 6px 8px; resize: none; color: #f5f5f7;
  background: rgb(255 255 255 / .07); border: 1px solid rgb(255 255 255 / .14); border-radius: 6px; }
.comment::placeholder { color: #8b8b94; }
.actions { display: flex; justify-content: flex-end; gap: 6px; }
.primary, .quiet { padding: 5px 11px; border-radius: 6px; font-size: 12px; }
.primary { color: #fff; background: #6d5efc; }
.primary:hover { background: #5b4bf5; }
.quiet { color: #d4d4d8; background: transparent; }
.quiet:hover { background: rgb(255 255 255 / .08); }
.list { max-height: 46vh; overflow: auto; }
.list > .primary { width: 100%; margin-top: 8px; }
.row { display: flex; gap: 8px; padding: 4px 0; align-items: flex-start; }
.number { flex: none; width: 18px; height: 18px; text-align: center; color: #fff; background: #6d5efc;
  border-radius: 50%; font-size: 11px; line-height: 18px; }
.words { flex: 1; min-width: 0; }
.comment-text { overflow-wrap: anywhere; }
.where { overflow: hidden; color: #8b8b94; font: 11px/1.4 ui-monospace, monospace; white-space: nowrap; text-overflow: ellipsis; }
.remove { flex: none; width: 20px; color: #a1a1aa; background: transparent; border-radius: 4px; }
.remove:hover { color: #fff; background: rgb(255 255 255 / .1); }
.status { padding: 4px 10px; color: #f5f5f7; background: rgb(24 24 27 / .92); border-radius: 6px; font-size: 12px; }
`;
