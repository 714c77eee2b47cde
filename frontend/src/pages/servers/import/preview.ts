/** The servers of other programs, or of files that were given, as one table: what is new, what is already added, what is the same twice, where names
 * are in conflict; and importing what was ticked. */

import { run, type Params, type Result } from "../../../api/client";
import type { TextFile } from "../../add/textFile";
import { GIVEN } from "../text";

/** What the host calls the form of a file that belongs to no program. */
const PLAIN = "plain";

/** A config file that was found, or the text of one that was given. */
export type Source = Pick<Result<"import_found">[number], "title" | "file" | "problem"> &
  Partial<Result<"import_found">[number]> & { text?: string };
export type Plan = Result<"import_plan">;
export type Planned = Plan["servers"][number];
export type Choice = "mine" | "theirs" | "both";

export interface ImportRow {
  key: string;
  source: number;
  from: string;
  planned: Planned;
  /** "same" is already added, "twin" is in an earlier row too, "differs" has a name that is taken. */
  standing: "new" | "same" | "twin" | "differs";
  /** Whose name it collides with. */
  against: string;
}

export interface Preview {
  sources: { source: Source; plan: Plan }[];
  rows: ImportRow[];
  refused: { name: string; why: string; from: string }[];
  /** Files that cannot be read. */
  problems: { from: string; why: string }[];
}

export function given({ name, text }: TextFile): Source {
  return { title: name, file: name, problem: "", text };
}

export async function previewAll(found: readonly Source[]): Promise<Preview> {
  const sources: Preview["sources"] = [];
  const read = await Promise.all(found.map(planOf));
  const problems: Preview["problems"] = [];
  found.forEach((source, index) => {
    const { plan, problem } = read[index] as Read;
    if (plan) sources.push({ source: source.text === undefined ? source : { ...source, title: titleOf(plan) }, plan });
    else problems.push({ from: source.title, why: problem });
  });
  return { sources, rows: rowsOf(sources), refused: refusedOf(sources), problems };
}

type Read = { plan: Plan | null; problem: string };

async function planOf(source: Source): Promise<Read> {
  if (source.problem) return { plan: null, problem: source.problem };
  try {
    return { plan: await run("import_plan", paramsOf(source)), problem: "" };
  } catch (error) {
    if (source.text === undefined) throw error; // The host is gone; a given file may just be no config file.
    return { plan: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** "Cursor" for a file in its form, else the file's name. */
function titleOf({ source }: Plan): string {
  return source.host && source.host !== PLAIN ? source.title : (source.file.split("/").at(-1) ?? source.file);
}

export function paramsOf({ file, host, table, workspace, text }: Source): Params<"import_plan"> {
  if (text !== undefined) return { file, text };
  return { file, host: host ?? null, table: table ?? null, workspace: workspace ?? null };
}

export function rowsOf(sources: Preview["sources"]): ImportRow[] {
  const rows: ImportRow[] = [];
  sources.forEach(({ source, plan }, index) => {
    for (const planned of plan.servers) {
      if (planned.name === "") continue;
      const earlier = rows.find((row) => row.planned.name === planned.name && row.standing !== "twin");
      rows.push({
        key: `${index} ${planned.name}`,
        source: index,
        from: source.title,
        planned,
        ...standing(planned, earlier),
      });
    }
  });
  return rows;
}

function standing(planned: Planned, earlier: ImportRow | undefined): Pick<ImportRow, "standing" | "against"> {
  if (planned.standing === "same") return { standing: "same", against: "" };
  if (earlier && command(earlier.planned) === command(planned)) return { standing: "twin", against: earlier.from };
  if (planned.standing === "differs") return { standing: "differs", against: "yours" };
  if (earlier) return { standing: "differs", against: `the one in ${earlier.from}` };
  return { standing: "new", against: "" };
}

/** What it would run or reach, as one line. */
export function command(planned: Planned): string {
  const entry = planned.entry;
  if (typeof entry.url === "string") return entry.url;
  const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
  return [String(entry.command ?? entry.package ?? entry.module ?? ""), ...args].join(" ");
}

function refusedOf(sources: Preview["sources"]): Preview["refused"] {
  return sources.flatMap(({ source, plan }) => [
    ...Object.entries(plan.refused).map(([name, why]) => ({ name, why, from: source.title })),
    ...plan.servers
      .filter((planned) => planned.name === "")
      .map((planned) => ({ name: command(planned), why: GIVEN.unnamed, from: source.title })),
  ]);
}

/** Take in what was ticked, one source after the other; nothing of it is started. */
export async function importAll(
  preview: Preview,
  ticked: ReadonlySet<string>,
  choices: ReadonlyMap<string, Choice>,
): Promise<number> {
  let taken = 0;
  for (const [index, { source, plan }] of preview.sources.entries()) {
    const wanted = preview.rows.filter((row) => row.source === index && ticked.has(row.key));
    if (wanted.length === 0) continue;
    const answer = await run("import_apply", {
      ...paramsOf(source),
      only: wanted.map((row) => row.planned.name),
      choices: Object.fromEntries(
        wanted.map((row) => [
          row.planned.name,
          { action: choices.get(row.key) === "theirs" ? ("replace" as const) : ("rename" as const) },
        ]),
      ),
      digest: plan.digest,
    });
    taken += answer.servers.filter((one) => one.action !== "skip").length;
  }
  return taken;
}
