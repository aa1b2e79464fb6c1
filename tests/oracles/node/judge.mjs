// Reads a JSON list of UIMessage lists from stdin; writes a JSON list with the AI SDK's error for each, or null.
//
// A list goes the way of a real request: validateUIMessages -> convertToModelMessages -> generateText, with a model that
// answers at once. Nothing leaves this process: the model takes every URL as it is, so nothing is downloaded.

import { text } from "node:stream/consumers";
import { convertToModelMessages, generateText, getToolName, isToolUIPart, jsonSchema, tool, validateUIMessages } from "ai";
import { MockLanguageModelV3 } from "ai/test";

globalThis.AI_SDK_LOG_WARNINGS = false;

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
const model = new MockLanguageModelV3({
  supportedUrls: { "*": [/.*/] },
  doGenerate: {
    content: [{ type: "text", text: "ok" }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: { inputTokens: tokens, outputTokens: tokens },
    warnings: [],
  },
});

// Every tool that the history names exists and succeeds, for the SDK runs an approved call of the last message itself.
function toolsOf(messages) {
  const parts = messages.flatMap((message) => message.parts.filter(isToolUIPart));
  const any = () => tool({ inputSchema: jsonSchema({}), execute: async () => "ok" });
  return Object.fromEntries(parts.map((part) => [getToolName(part), any()]));
}

async function errorOf(list) {
  try {
    const messages = await validateUIMessages({ messages: list });
    const prompt = await convertToModelMessages(messages);
    await generateText({ model, messages: prompt, tools: toolsOf(messages), maxRetries: 0 });
    return null;
  } catch (error) {
    return `${error.name}: ${error.message}`.split("\n", 1)[0].slice(0, 300);
  }
}

const errors = [];
for (const list of JSON.parse(await text(process.stdin))) {
  errors.push(await errorOf(list));
}
process.stdout.write(JSON.stringify(errors));
