/* Any result without a page of its own: its sentences, tables, figures and notes, the answer first. */

async function drawResult(page, subject) {
  const content = await block(subject, state.page, "blocks");
  const [first, ...rest] = content;
  const sentence = first && first.kind === "sentence" && first.text.length < 400;
  page.append(...headline(subject, sentence ? first.text : subject.title));
  for (const part of sentence ? rest : content) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
  page.append(notes(subject) || "");
}
definePage("result", "", drawResult);
