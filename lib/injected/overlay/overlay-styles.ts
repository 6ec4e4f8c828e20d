/** The overlay's style sheet, as CSS text. */
export const overlayStyles = `
:host { all: initial; }
* { box-sizing: border-box; margin: 0; font: 13px/1.4 ui-sans-serif, system-ui, "Segoe UI", sans-serif; }
[hidden] { display: none !important; }
.panel { position: fixed; inset: 0; width: 100%; height: 100%; padding: 0; overflow: hidden; border: 0;
  color: #f5f5f7; background: none; pointer-events: none; }
.outline { position: fixed; top: 0; left: 0; border-radius: 4px; outline: 2px solid #6d5efc; background: rgb(109 94 252 / .10); }
.tag { position: absolute; left: -2px; bottom: calc(100% + 4px); max-width: 320px; padding: 1px 7px; overflow: hidden;
  color: #fff; background: #6d5efc; border-radius: 4px; font-size: 11px; white-space: nowrap; text-overflow: ellipsis; }
.tag.inside { bottom: auto; top: 4px; left: 4px; }
.dock { position: fixed; right: 14px; bottom: 14px; display: flex; flex-direction: column; align-items: flex-end; gap: 8px; }
.pill { padding: 6px 13px; background: rgb(24 24 27 / .88); border-radius: 999px; font-size: 12px; font-weight: 550;
  box-shadow: 0 0 0 1px rgb(255 255 255 / .12), 0 3px 12px rgb(0 0 0 / .22); opacity: .9; }
.pill.active { background: #6d5efc; opacity: 1; }
.card { width: 280px; padding: 10px; background: rgb(24 24 27 / .97); border-radius: 10px;
  box-shadow: 0 0 0 1px rgb(255 255 255 / .12), 0 8px 28px rgb(0 0 0 / .32); }
.editor { position: fixed; top: 0; left: 0; }
.title { overflow: hidden; color: #a1a1aa; font-size: 11px; white-space: nowrap; text-overflow: ellipsis; }
.comment { position: relative; width: 100%; height: 64px; margin: 6px 0 8px; padding: 6px 8px; overflow: hidden;
  background: rgb(255 255 255 / .07); border: 1px solid #9d93ff; border-radius: 6px; }
.typed { white-space: pre-wrap; overflow-wrap: anywhere; }
.hint { position: absolute; top: 6px; left: 8px; color: #8b8b94; }
.caret { position: absolute; width: 1px; background: #f5f5f7; }
.selected { position: absolute; background: rgb(157 147 255 / .45); }
.actions { display: flex; justify-content: flex-end; gap: 6px; }
.primary, .quiet { padding: 5px 11px; border-radius: 6px; font-size: 12px; font-weight: 550; text-align: center; }
.primary { color: #fff; background: #6d5efc; }
.quiet { color: #d4d4d8; }
.rows { max-height: 40vh; overflow: hidden; }
.rows + .primary { width: 100%; margin-top: 8px; }
.row { display: flex; gap: 8px; padding: 4px 0; align-items: flex-start; }
.number { flex: none; width: 18px; height: 18px; text-align: center; color: #fff; background: #6d5efc;
  border-radius: 50%; font-size: 11px; line-height: 18px; }
.words { flex: 1; min-width: 0; }
.comment-text { max-height: 120px; overflow: hidden; overflow-wrap: anywhere; white-space: pre-wrap; }
.where { overflow: hidden; color: #8b8b94; font: 11px/1.4 ui-monospace, monospace; white-space: nowrap; text-overflow: ellipsis; }
.remove { flex: none; width: 20px; text-align: center; color: #a1a1aa; border-radius: 4px; }
.status { padding: 4px 10px; background: rgb(24 24 27 / .92); border-radius: 6px; font-size: 12px; }
`;
