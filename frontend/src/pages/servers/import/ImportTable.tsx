/** The table of servers to import: command, secrets, and the choice for a name in conflict (keep mine, use theirs,
 * keep both). */

import { reveal } from "../../../ui/hidden";
import { command, type Choice, type ImportRow, type Preview } from "./preview";

const NONE = "none";

interface Props {
  preview: Preview;
  ticked: ReadonlySet<string>;
  choices: ReadonlyMap<string, Choice>;
  onTicked: (ticked: ReadonlySet<string>) => void;
  onChoices: (choices: ReadonlyMap<string, Choice>) => void;
}

/** From, Name, Command, Secrets, Conflict: each row with a tick. */
export function ImportTable({ preview, ticked, choices, onTicked, onChoices }: Props) {
  const tick = (key: string, on: boolean) => {
    const next = new Set(ticked);
    if (on) next.add(key);
    else next.delete(key);
    onTicked(next);
  };
  return (
    <table className="import-table">
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Import</span>
          </th>
          <th scope="col">From</th>
          <th scope="col">Name</th>
          <th scope="col">Command</th>
          <th scope="col">Secrets</th>
          <th scope="col">Conflict</th>
        </tr>
      </thead>
      <tbody>
        {preview.rows.map((row) => {
          const fixed = row.standing === "same" || row.standing === "twin";
          return (
            <tr key={row.key}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Import ${row.planned.name} from ${row.from}`}
                  checked={ticked.has(row.key)}
                  disabled={fixed}
                  onChange={(event) => {
                    tick(row.key, event.target.checked);
                    if (row.standing === "differs")
                      onChoices(new Map(choices).set(row.key, event.target.checked ? "both" : "mine"));
                  }}
                />
              </td>
              <td className="muted">{row.from}</td>
              <th scope="row">{reveal(row.planned.name)}</th>
              <td>
                <code className="full-command">{reveal(command(row.planned))}</code>
                {row.planned.remarks.map((remark) => (
                  <p key={remark} className="muted text-small">
                    {reveal(remark)}
                  </p>
                ))}
              </td>
              <td className={secretText(row) === NONE ? "secondary text-small empty-cell" : "secondary text-small"}>
                {secretText(row)}
              </td>
              <td className={row.standing === "new" ? "text-small empty-cell" : "text-small"}>
                <Conflict
                  row={row}
                  choice={choices.get(row.key) ?? "mine"}
                  onChoice={(choice) => {
                    onChoices(new Map(choices).set(row.key, choice));
                    tick(row.key, choice !== "mine");
                  }}
                />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function secretText(row: ImportRow): string {
  const kept = row.planned.secrets.length;
  const waiting = row.planned.waiting.length;
  const words = [
    kept === 0 ? "" : `${kept} ${kept === 1 ? "value to store as a secret" : "values to store as secrets"}`,
    waiting === 0 ? "" : `${waiting} ${waiting === 1 ? "value is" : "values are"} missing`,
  ];
  return words.filter(Boolean).join(", ") || NONE;
}

function Conflict({ row, choice, onChoice }: { row: ImportRow; choice: Choice; onChoice: (choice: Choice) => void }) {
  if (row.standing === "same") return <span className="muted">already added</span>;
  if (row.standing === "twin") return <span className="muted">the same as in {row.against}</span>;
  if (row.standing === "new") return <span className="muted">{NONE}</span>;
  return (
    <label>
      same name, different command than {row.against}:{" "}
      <select
        value={choice}
        onChange={(event) => onChoice(event.target.value as Choice)}
        aria-label={`Conflict of ${row.planned.name}`}
      >
        <option value="mine">keep mine</option>
        <option value="theirs">use theirs</option>
        <option value="both">keep both</option>
      </select>
    </label>
  );
}
