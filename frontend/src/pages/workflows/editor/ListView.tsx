/** The steps as a list: everything that the canvas can do, for the keyboard and for narrow windows; text of a row, its
 * menu (breakpoint, turn off, duplicate). */

import { useEffect, useMemo, useRef, type KeyboardEvent } from "react";

import { duration } from "../../../ui/amounts";
import { reveal } from "../../../ui/hidden";
import { Icon } from "../../../ui/Icon";
import { Menu } from "../../../ui/Menu";
import { Glyph, type Shape } from "../../../ui/Status";
import { useWindow } from "../../../ui/window";
import type { Look } from "../canvas/flow";
import { nameOf, type Graph } from "../graph/file";
import { closesGroup } from "../graph/kinds";
import { rowsOf, type Row } from "../graph/order";
import { runLine } from "../runs/lines";
import { stepState, took } from "../runs/states";
import { summaryOf } from "../settings/values";
import { outputLabel } from "../text/edges";
import { STEPS } from "../text/editor";
import { kindBeside } from "./kinds";
import type { EditorControls } from "./state";
import { stepEntries } from "./stepMenu";
import type { Open } from "./views";

interface Props {
  editor: EditorControls;
  graph: Graph;
  frozen: boolean;
  look: Look;
  wanted: { id: string; turn: number } | null;
  onOpenStep: (id: string) => void;
  onOpen: (open: Open) => void;
}

/** The steps as a list: everything that the canvas can do, for the keyboard and for narrow windows. */
export function ListView({ editor, graph, frozen, look, wanted, onOpenStep, onOpen }: Props) {
  const rows = useMemo(() => rowsOf(graph, look.kinds), [graph, look.kinds]);
  const list = useRef<HTMLOListElement>(null);
  const view = useWindow({ count: rows.length, height: 56, keyOf: (index) => rows[index]?.id ?? index, anchor: list });
  const { show } = view;
  const [current] = look.selected;
  useEffect(() => {
    if (!wanted) return;
    const index = rows.findIndex((row) => row.id === wanted.id);
    if (index < 0) return;
    show(index);
    requestAnimationFrame(() => focusRow(list.current, wanted.id));
    // Only when it is asked for, not whenever the rows change.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [wanted]);

  function move(event: KeyboardEvent, index: number) {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined || event.metaKey || event.ctrlKey) return;
    const next = rows[index + step];
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    editor.select([next.id]);
    // At once where it is drawn, so that a key that is held down misses none.
    if (focusRow(list.current, next.id)) return;
    show(index + step);
    requestAnimationFrame(() => focusRow(list.current, next.id));
  }

  return (
    <div className="workflow-list-scroll">
      {rows.length === 0 && <p className="empty list-empty">{STEPS.empty}</p>}
      <ol className="workflow-steps" aria-label={STEPS.label} ref={list} aria-describedby={undefined}>
        {view.before > 0 && <li aria-hidden="true" style={{ height: view.before }} />}
        {view.rows.map(({ index, key }) => {
          const row = rows[index] as Row;
          return (
            <li
              key={key}
              data-index={index}
              ref={view.measure}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className={rowClass(row, look)}
              style={{ paddingLeft: 16 + Math.min(row.depth, 8) * 22 }}
            >
              <button
                type="button"
                className="plain-button step-row"
                data-step={row.id}
                aria-current={row.id === current ? "true" : undefined}
                onClick={() => editor.select([row.id])}
                onDoubleClick={() => onOpenStep(row.id)}
                onFocus={() => current !== row.id && editor.select([row.id])}
                onKeyDown={(event) => (event.key === "Enter" ? onEnter(event, row.id) : move(event, index))}
              >
                <RowText graph={graph} row={row} look={look} />
              </button>
              {!frozen && <RowMenu {...{ editor, look, onOpen }} id={row.id} graph={graph} />}
            </li>
          );
        })}
        {view.after > 0 && <li aria-hidden="true" style={{ height: view.after }} />}
      </ol>
    </div>
  );

  function onEnter(event: KeyboardEvent, id: string) {
    event.preventDefault();
    onOpenStep(id);
  }
}

function focusRow(list: HTMLElement | null, id: string): boolean {
  const row = list?.querySelector<HTMLElement>(`[data-step="${id}"]`);
  row?.focus();
  return row !== null && row !== undefined;
}

function rowClass(row: Row, look: Look): string {
  const state = look.shown?.progress.get(row.id)?.visit.state;
  return [
    row.depth > 0 ? "inside" : "",
    look.selected.has(row.id) ? "selected" : "",
    state === "waiting" || state === "uncertain" ? "asking" : "",
    look.breakpoints.has(row.id) ? "breakpoint" : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function RowText({ graph, row, look }: { graph: Graph; row: Row; look: Look }) {
  const step = graph.nodes[row.id];
  if (!step) return null;
  const progress = look.shown?.progress.get(row.id) ?? null;
  const time = progress ? took(progress.visit, Date.now()) : null;
  const shape = shapeOf(row, look);
  const name = reveal((closesGroup(step) && !step.name && kindBeside(step, look.kinds)) || nameOf(graph, row.id));
  return (
    <>
      {shape ? <Glyph shape={shape} /> : <span />}
      <span className="step-name ellipsis">
        {row.output && <span className="tag branch-tag">{reveal(outputLabel(row.output))}</span>}
        <b className={step.enabled ? "bold" : "bold turned-off-name"}>{name}</b>
      </span>
      <span className="num muted text-small">{time === null ? "" : duration(time)}</span>
      <span className="step-about ellipsis muted text-small">{reveal(aboutRow(graph, row, look))}</span>
    </>
  );
}

function shapeOf(row: Row, look: Look): Shape | null {
  const progress = look.shown?.progress.get(row.id);
  if (progress) return stepState(progress.visit.state).shape;
  if (look.shown) return look.shown.reached.has(row.id) ? "done" : "wait";
  return look.problems.has(row.id) ? "fail" : null;
}

function aboutRow(graph: Graph, row: Row, look: Look): string {
  const step = graph.nodes[row.id];
  if (!step) return "";
  const kind = closesGroup(step) ? "" : kindBeside(step, look.kinds);
  const leads = row.leads.map(({ output, to }) => STEPS.leads(outputLabel(output), nameOf(graph, to)));
  if (look.shown) return [kind, runLine(look.shown, row.id, step), ...leads].filter(Boolean).join(" · ");
  const problem = look.problems.get(row.id);
  const loose = row.loose ? STEPS.loose : "";
  const said = problem ?? (step.enabled ? summaryOf(step.settings) : STEPS.off);
  return [kind, loose, said, ...leads].filter(Boolean).join(" · ");
}

interface MenuProps {
  editor: EditorControls;
  look: Look;
  id: string;
  graph: Graph;
  onOpen: (open: Open) => void;
}

function RowMenu({ id, ...options }: MenuProps) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="btn bare small icon-only"
          data-menu={id}
          aria-label={STEPS.actions(nameOf(options.graph, id))}
        >
          <Icon name="dots" small />
        </button>
      }
      entries={stepEntries(options, id)}
    />
  );
}
