/** Importing a workflow from a file that the user chooses: largest file, and a name that is already used. */

import { run } from "../../../api/client";
import { ApiError, sentence } from "../../../api/errors";
import type { WorkflowReview } from "../../../api/types";
import { notify } from "../../../app/notices";
import { LIST } from "../text/list";
import { refreshList } from "./workflowActions";

const LARGEST = 5_000_000;

interface Outcome {
  /** Its name is already used. */
  onTaken: (file: Record<string, unknown>) => void;
  /** What it does. */
  onImported: (review: WorkflowReview) => void;
}

/** Ask for a file and import it. */
export function chooseFile(outcome: Outcome): void {
  const input = Object.assign(document.createElement("input"), { type: "file", accept: ".json,application/json" });
  input.onchange = () => void importFile(input.files?.[0], outcome);
  input.click();
}

export async function importFile(file: File | undefined, outcome: Outcome) {
  if (!file) return;
  try {
    if (file.size > LARGEST) throw new Error(LIST.tooLarge);
    await importText(await file.text(), outcome);
  } catch (error) {
    notify(sentence(error));
  }
}

async function importText(text: string, { onTaken, onImported }: Outcome): Promise<void> {
  try {
    const shown = await run("workflow_import", { text });
    refreshList();
    notify(LIST.imported(shown.name));
    onImported(shown);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== "conflict") throw error;
    onTaken(JSON.parse(text) as Record<string, unknown>);
  }
}
