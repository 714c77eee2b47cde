/** A workflow that one page made and another names and saves, such as one from a chat. */

export interface WorkflowDraft {
  workflow: Record<string, unknown>;
  /** What was assumed, for the user to check. */
  doubts: string[];
}

let waiting: WorkflowDraft | null = null;

export function giveDraft(draft: WorkflowDraft): void {
  waiting = draft;
}

/** The draft, which is then no longer waiting. */
export function takeDraft(): WorkflowDraft | null {
  const draft = waiting;
  waiting = null;
  return draft;
}
