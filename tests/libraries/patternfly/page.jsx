import { useState } from "react";
import { createRoot } from "react-dom/client";
import "@patternfly/react-core/dist/styles/base.css";
import { Accordion, AccordionContent, AccordionItem, AccordionToggle, Alert, AlertActionCloseButton, Button, Checkbox, DatePicker, Dropdown, DropdownItem, DropdownList, ExpandableSection, FileUpload, Form, FormGroup, Label, Menu, MenuContent, MenuItem, MenuList, MenuToggle, Modal, ModalBody, ModalFooter, ModalHeader, NumberInput, Pagination, Radio, SearchInput, Select, SelectList, SelectOption, Slider, Switch, Tab, TabTitleText, Tabs, TextArea, TextInput, ToggleGroup, ToggleGroupItem, TreeView } from "@patternfly/react-core";

const useTold = (name, first) => { const [value, set] = useState(first); return [value, (next) => { set(next); tell(name, next); }]; };

function Fields() {
  const [status, setStatus] = useTold("status", "Active"), [open, setOpen] = useState(false), [on, setOn] = useTold("switch", false), [box, setBox] = useTold("box", false), [radio, setRadio] = useTold("radio", ""), [number, setNumber] = useTold("number", 3), [size, setSize] = useTold("slider", 50), [name, setName] = useTold("name", ""), [query, setQuery] = useTold("query", ""), [side, setSide] = useTold("side", "one");
  return (
    <Form>
      <Select isOpen={open} selected={status} onSelect={(_, value) => { setStatus(value); setOpen(false); }} onOpenChange={setOpen} toggle={(ref) => <MenuToggle ref={ref} onClick={() => setOpen(!open)} isExpanded={open}>{status}</MenuToggle>}><SelectList>{["Active", "Cancelled", "Paused"].map((each) => <SelectOption key={each} value={each}>{each}</SelectOption>)}</SelectList></Select>
      <FormGroup label="Full name" isRequired fieldId="name"><TextInput id="name" value={name} onChange={(_, value) => setName(value)} /></FormGroup>
      <SearchInput placeholder="Find by name" aria-label="Find" value={query} onChange={(_, value) => setQuery(value)} onClear={() => setQuery("")} />
      <TextArea aria-label="Notes" onChange={(_, value) => tell("notes", value)} />
      <Switch id="switch" label="Message when on" isChecked={on} onChange={(_, value) => setOn(value)} /><Checkbox id="box" label="Controlled checkbox" description="Its description" isChecked={box} onChange={(_, value) => setBox(value)} />
      <Radio id="r1" name="r" label="First radio" isChecked={radio === "1"} onChange={() => setRadio("1")} /><Radio id="r2" name="r" label="Second radio" isChecked={radio === "2"} onChange={() => setRadio("2")} />
      <NumberInput value={number} inputAriaLabel="Count" minusBtnAriaLabel="Minus" plusBtnAriaLabel="Plus" onMinus={() => setNumber(number - 1)} onPlus={() => setNumber(number + 1)} onChange={(event) => setNumber(Number(event.target.value))} />
      <Slider value={size} thumbAriaLabel="Size" onChange={(_, value) => setSize(value)} />
      <DatePicker value="2026-04-17" onChange={(_, value) => tell("day", value)} />
      <ToggleGroup aria-label="Sides">{["one", "two"].map((each) => <ToggleGroupItem key={each} text={`Option ${each}`} isSelected={side === each} onChange={() => setSide(each)} />)}</ToggleGroup>
    </Form>
  );
}

function Layers() {
  const [open, setOpen] = useState(false), [modal, setModal] = useState(false), [tab, setTab] = useTold("tab", 0), [more, setMore] = useTold("more", false), [part, setPart] = useTold("part", ""), [page, setPage] = useTold("page", 1), [alert, setAlert] = useState(true);
  return (
    <>
      <Dropdown isOpen={open} onOpenChange={setOpen} onSelect={(_, value) => { setOpen(false); tell("action", value); }} toggle={(ref) => <MenuToggle ref={ref} variant="plain" aria-label="kebab dropdown toggle" onClick={() => setOpen(!open)}>⋮</MenuToggle>}><DropdownList><DropdownItem value="edit">Edit it</DropdownItem><DropdownItem value="remove" description="For ever">Remove it</DropdownItem></DropdownList></Dropdown>
      <Menu onSelect={(_, id) => tell("menu", id)}><MenuContent><MenuList><MenuItem itemId="a">Action A</MenuItem><MenuItem itemId="b" isDisabled>Disabled action</MenuItem></MenuList></MenuContent></Menu>
      <Button onClick={() => setModal(true)}>Show basic modal</Button><Modal isOpen={modal} variant="small" aria-labelledby="title" onClose={() => setModal(false)}><ModalHeader title="Basic modal" labelId="title" /><ModalBody>Lorem ipsum dolor sit amet.</ModalBody><ModalFooter><Button onClick={() => { setModal(false); tell("confirmed", true); }}>Confirm it</Button></ModalFooter></Modal>
      {alert && <Alert title="Success alert title" variant="success" actionClose={<AlertActionCloseButton onClose={() => { setAlert(false); tell("alert", "closed"); }} />}>The alert’s text</Alert>}
      <Label onClose={() => tell("label", "closed")}>Closable label</Label>
      <Tabs activeKey={tab} aria-label="Tabs" onSelect={(_, key) => setTab(key)}><Tab eventKey={0} title={<TabTitleText>Users</TabTitleText>}>Users text</Tab><Tab eventKey={1} title={<TabTitleText>Containers</TabTitleText>}>Containers text</Tab></Tabs>
      <ExpandableSection toggleText={more ? "Show less" : "Show more"} isExpanded={more} onToggle={(_, on) => setMore(on)}>Only seen when expanded.</ExpandableSection>
      <Accordion><AccordionItem isExpanded={part === "one"}><AccordionToggle id="one" onClick={() => setPart("one")}>Item one</AccordionToggle><AccordionContent>Text of item one</AccordionContent></AccordionItem></Accordion>
      <TreeView aria-label="Tree" data={[{ name: "Application launcher", id: "app", children: [{ name: "Settings part", id: "set" }] }]} onSelect={(_, item) => tell("tree", item.id)} />
      <FileUpload id="file" filenamePlaceholder="Drag and drop a file" browseButtonText="Upload" onFileInputChange={(_, file) => tell("file", file.name)} />
      <Pagination itemCount={95} perPage={10} page={page} onSetPage={(_, next) => setPage(next)} onPerPageSelect={(_, size) => tell("size", size)} />
    </>
  );
}

createRoot(document.getElementById("root")).render(<><h1>PatternFly</h1><Fields /><Layers /></>);
