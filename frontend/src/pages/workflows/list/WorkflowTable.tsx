/** The table of workflows: columns, state of the latest run, next start, last runs, menu of a row. */

import { run } from "../../../api/client";
import { sentence } from "../../../api/errors";
import { notify } from "../../../app/notices";
import { Link, navigate } from "../../../app/router";
import { Ago } from "../../../ui/Ago";
import { dayAndTime, duration } from "../../../ui/amounts";
import { reveal } from "../../../ui/hidden";
import { Icon } from "../../../ui/Icon";
import { Menu } from "../../../ui/Menu";
import { Status } from "../../../ui/Status";
import { RunGlyphs } from "../runs/RunGlyphs";
import { runState, took } from "../runs/states";
import { LIST } from "../text/list";
import type { WorkflowRow } from "./rows";
import { exportWorkflow, removeWorkflow } from "./workflowActions";

interface Props {
  rows: readonly WorkflowRow[];
  onDuplicate: (file: Record<string, unknown>, name: string) => void;
}

export function WorkflowTable({ rows, onDuplicate }: Props) {
  const { columns } = LIST;
  return (
    <table className="workflow-table">
      <thead>
        <tr>
          <th scope="col">{columns.name}</th>
          <th scope="col">{columns.state}</th>
          <th scope="col" className="hide-medium">
            {columns.next}
          </th>
          <th scope="col" className="hide-medium">
            {columns.runs}
          </th>
          <th scope="col" className="number hide-narrow">
            {columns.took}
          </th>
          <th>
            <span className="visually-hidden">{LIST.more}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.workflow.name} row={row} onDuplicate={onDuplicate} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, onDuplicate }: { row: WorkflowRow; onDuplicate: Props["onDuplicate"] }) {
  const { workflow, latest } = row;
  const path = `/workflows/${encodeURIComponent(workflow.name)}`;
  const time = latest ? took(latest, Date.now()) : null;
  return (
    <tr data-workflow={workflow.name}>
      <th scope="row">
        <Link className="row-link" href={path}>
          {workflow.name}
        </Link>
        <p className="secondary text-small ellipsis">{reveal(workflow.description) || LIST.steps(workflow.nodes)}</p>
      </th>
      <td>
        {workflow.problems.length > 0 ? (
          <Status shape="fail" word={LIST.problems(workflow.problems.length)} />
        ) : latest ? (
          <Link className="inherit-color" href={`${path}?run=${encodeURIComponent(latest.run)}`}>
            <Status {...runState(latest.state)} />
          </Link>
        ) : (
          <span className="muted">{LIST.never}</span>
        )}
        {latest && (
          <p className="muted text-small">
            <Ago when={latest.started} />
          </p>
        )}
      </td>
      <td className="hide-medium secondary num">{row.next ? dayAndTime(row.next) : LIST.noStart}</td>
      <td className="hide-medium">
        <RunGlyphs runs={row.runs} />
      </td>
      <td className="number num secondary hide-narrow">{time === null ? "" : duration(time)}</td>
      <td className="row-menu">
        <Menu
          trigger={
            <button type="button" className="btn bare small icon-only" aria-label={LIST.actions(workflow.name)}>
              <Icon name="dots" small />
            </button>
          }
          entries={[
            { name: LIST.open, onSelect: () => navigate(path) },
            { name: LIST.export, onSelect: () => void exportWorkflow(workflow.name) },
            { name: LIST.duplicate, onSelect: () => void duplicate(workflow.name, onDuplicate) },
            { name: LIST.remove, danger: true, apart: true, onSelect: () => void removeWorkflow(workflow.name) },
          ]}
        />
      </td>
    </tr>
  );
}

async function duplicate(name: string, onDuplicate: Props["onDuplicate"]): Promise<void> {
  try {
    const shown = await run("workflow_get", { name });
    onDuplicate({ ...shown.workflow }, name);
  } catch (error) {
    notify(sentence(error));
  }
}
