/** The servers of other programs as one table: what is new, what is already added, what is the same twice, where names
 * are in conflict; and importing what was ticked. */

import { run, type Params, type Result } from "../../../api/client";

export type Source = Result<"import_found">[number];
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
}

export async function previewAll(found: readonly Source[]): Promise<Preview> {
  const readable = found.filter((source) => source.problem === "");
  const plans = await Promise.all(readable.map((source) => run("import_plan", paramsOf(source))));
  const sources = readable.map((source, index) => ({ source, plan: plans[index] as Plan }));
  return { sources, rows: rowsOf(sources), refused: refusedOf(sources) };
}

export function paramsOf(source: Source): Params<"import_plan"> {
  return { file: source.file, host: source.host, table: source.table, workspace: source.workspace };
}

export function rowsOf(sources: Preview["sources"]): ImportRow[] {
  const rows: ImportRow[] = [];
  sources.forEach(({ source, plan }, index) => {
    for (const planned of plan.servers) {
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
  return sources.flatMap(({ source, plan }) =>
    Object.entries(plan.refused).map(([name, why]) => ({ name, why, from: source.title })),
  );
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
