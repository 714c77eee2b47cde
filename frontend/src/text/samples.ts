/** Sample questions that work now, on the Welcome page and in a new chat. */

/** What the demo model understands: a write that asks first, two calls at once, the time, its tools. */
export const DEMO_SAMPLES = [
  "Save “hello” to note.txt",
  "What is 6 × 7, and what is 1 divided by 7?",
  "What time is it?",
  "Which tools do you have?",
] as const;

/** For any other model. */
const MODEL_SAMPLES = ["What can you do here?", "What is in this folder?", "What is 1 divided by 7?"] as const;

export function samples(model: string): readonly string[] {
  return model === "demo" ? DEMO_SAMPLES : MODEL_SAMPLES;
}
