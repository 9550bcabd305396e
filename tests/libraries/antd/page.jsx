import { createRoot } from "react-dom/client";
import { App as Root, AutoComplete, Button, Calendar, Cascader, Checkbox, Collapse, ColorPicker, DatePicker, Drawer, Dropdown, Form, Input, InputNumber, Menu, Modal, Pagination, Popconfirm, Radio, Rate, Segmented, Select, Slider, Space, Steps, Switch, Table, Tabs, Tag, TimePicker, Transfer, Tree, TreeSelect, Upload } from "antd";
import { useState } from "react";
import dayjs from "dayjs";

const PLACES = [{ value: "zhejiang", label: "Zhejiang", children: [{ value: "hangzhou", label: "Hangzhou", children: [{ value: "xihu", label: "West Lake" }] }] }, { value: "jiangsu", label: "Jiangsu", children: [{ value: "nanjing", label: "Nanjing" }] }];
const TREE = [{ value: "parent", title: "parent 1", children: [{ value: "leaf1", title: "my leaf" }, { value: "leaf2", title: "your leaf" }] }];
const ROWS = [{ key: 1, name: "John Brown", age: 32 }, { key: 2, name: "Jim Green", age: 42 }, { key: 3, name: "Joe Black", age: 30 }];

function Selects() {
  return (
    <Space wrap>
      <Select aria-label="Person" style={{ width: 120 }} defaultValue="lucy" options={[{ value: "jack", label: "Jack" }, { value: "lucy", label: "Lucy" }, { value: "disabled", label: "Disabled", disabled: true }]} onChange={(value) => tell("person", value)} />
      <Select aria-label="Countries" mode="multiple" style={{ width: 260 }} defaultValue={["China"]} options={["China", "Japan", "Korea"].map((value) => ({ value, label: value }))} onChange={(value) => tell("countries", value)} />
      <Select aria-label="Search a person" showSearch placeholder="Select a person" optionFilterProp="label" style={{ width: 160 }} options={["Ann", "Bea", "Tom"].map((value) => ({ value, label: value }))} onChange={(value) => tell("found", value)} />
      <Cascader aria-label="Place" options={PLACES} placeholder="Please select" onChange={(value) => tell("place", value)} />
      <TreeSelect aria-label="Leaf" treeData={TREE} treeDefaultExpandAll style={{ width: 180 }} placeholder="Pick a leaf" onChange={(value) => tell("leaf", value)} />
      <AutoComplete aria-label="Mail" style={{ width: 160 }} placeholder="input here" options={[{ value: "ann@gmail.com" }, { value: "ann@163.com" }]} onSelect={(value) => tell("mail", value)} />
    </Space>
  );
}

function Controls() {
  return (
    <Space wrap>
      <Checkbox onChange={(event) => tell("checked", event.target.checked)}>Checkbox</Checkbox>
      <Switch aria-label="Notify" checkedChildren="On" unCheckedChildren="Off" onChange={(on) => tell("notify", on)} />
      <Radio.Group defaultValue="a" onChange={(event) => tell("city", event.target.value)}><Radio.Button value="a">Hangzhou</Radio.Button><Radio.Button value="b">Shanghai</Radio.Button></Radio.Group>
      <Rate aria-label="Stars" defaultValue={1} onChange={(value) => tell("rate", value)} />
      <div style={{ width: 180 }}><Slider ariaLabelForHandle="Amount" defaultValue={30} onChange={(value) => tell("amount", value)} /></div>
      <InputNumber aria-label="Number" min={1} max={10} defaultValue={3} onChange={(value) => tell("number", value)} />
      <Segmented options={["Daily", "Weekly", "Monthly"]} onChange={(value) => tell("period", value)} />
      <ColorPicker defaultValue="#1677ff" showText onChange={(value) => tell("colour", value.toHexString())} />
      <Input.Search placeholder="input search text" onSearch={(value) => tell("searched", value)} />
      <Input.Password aria-label="Secret" defaultValue="open" /><Input.OTP aria-label="Code" length={4} onChange={(value) => tell("code", value)} />
      <DatePicker aria-label="Day" defaultValue={dayjs("2026-04-17")} onChange={(_, value) => tell("day", value)} />
      <DatePicker.RangePicker aria-label="Stay" defaultPickerValue={[dayjs("2026-04-01"), dayjs("2026-05-01")]} onChange={(_, value) => tell("stay", value)} />
      <TimePicker aria-label="Time" onChange={(_, value) => tell("time", value)} />
    </Space>
  );
}

function Layers() {
  const { message, modal, notification } = Root.useApp(), [open, setOpen] = useState(false), [drawer, setDrawer] = useState(false);
  const items = [{ key: "one", label: "1st menu item" }, { key: "sub", label: "sub menu", children: [{ key: "deep", label: "3rd menu item" }] }];
  return (
    <Space wrap>
      <Dropdown menu={{ items, onClick: ({ key }) => tell("dropdown", key) }}><a href="#hover" onClick={(event) => event.preventDefault()}>Hover me</a></Dropdown>
      <Button type="primary" onClick={() => setOpen(true)}>Open Modal</Button><Modal title="Basic Modal" open={open} onOk={() => { setOpen(false); tell("modal", "ok"); }} onCancel={() => setOpen(false)}>Some contents...</Modal>
      <Button onClick={() => modal.confirm({ title: "Do you want to delete these items?", onOk: () => tell("confirmed", true) })}>Confirm</Button>
      <Popconfirm title="Delete the task" description="Are you sure?" onConfirm={() => tell("popped", true)} okText="Yes" cancelText="No"><Button danger>Delete</Button></Popconfirm>
      <Button onClick={() => message.info("Hello, Ant Design!", 20)}>Display normal message</Button>
      <Button onClick={() => notification.open({ title: "Notification Title", description: "This is the content", duration: 0, actions: <Button onClick={() => tell("noticed", true)}>Destroy All</Button> })}>Open the notification box</Button>
      <Button onClick={() => setDrawer(true)}>Open Drawer</Button><Drawer title="Basic Drawer" open={drawer} onClose={() => { setDrawer(false); tell("drawer", "closed"); }}>Drawer contents</Drawer>
      <Tag closable onClose={() => tell("tag", "closed")}>Tag 2</Tag>
      <Upload beforeUpload={(file) => { tell("file", file.name); return false; }}><Button>Click to Upload</Button></Upload>
    </Space>
  );
}

function Data() {
  const [target, setTarget] = useState(["b"]);
  return (
    <>
      <Table size="small" dataSource={ROWS} pagination={false} rowSelection={{ onChange: (keys) => tell("rows", keys) }} columns={[{ title: "Name", dataIndex: "name", filters: [{ text: "Joe", value: "Joe" }, { text: "Jim", value: "Jim" }], onFilter: (value, row) => row.name.startsWith(value) }, { title: "Age", dataIndex: "age", sorter: (a, b) => a.age - b.age }]} onChange={(_, filters, sorter) => { tell("filter", filters.name); tell("sorted", sorter.order); }} />
      <Tree checkable defaultExpandAll treeData={[{ key: "0", title: "parent 1", children: [{ key: "0-0", title: "leaf one" }, { key: "0-1", title: "leaf two" }] }]} onCheck={(keys) => tell("tree", keys)} />
      <Transfer dataSource={["a", "b", "c"].map((key) => ({ key, title: `content ${key}` }))} titles={["Source", "Target"]} targetKeys={target} render={(item) => item.title} onChange={(keys) => { setTarget(keys); tell("transferred", keys); }} />
      <Collapse defaultActiveKey={["1"]} items={[{ key: "1", label: "This is panel header 1", children: "A dog is a type of animal." }, { key: "2", label: "This is panel header 2", children: "Second text" }]} onChange={(keys) => tell("panels", keys)} />
      <Tabs items={[{ key: "1", label: "Tab 1", children: "Content 1" }, { key: "2", label: "Tab 2", children: "Content 2" }]} onChange={(key) => tell("tab", key)} />
      <Menu mode="horizontal" items={[{ key: "mail", label: "Navigation One" }, { key: "sub", label: "Navigation Three", children: [{ key: "setting:1", label: "Option 1" }] }]} onClick={({ key }) => tell("menu", key)} />
      <Steps current={1} items={[{ title: "Finished" }, { title: "In Progress" }, { title: "Waiting" }]} onChange={(step) => tell("step", step)} />
      <Pagination total={50} onChange={(page) => tell("page", page)} />
      <div style={{ width: 300 }}><Calendar fullscreen={false} defaultValue={dayjs("2026-04-17")} onSelect={(day) => tell("calendar", day.format("YYYY-MM-DD"))} /></div>
      <Form onFinish={(values) => tell("form", values)}><Form.Item label="Username" name="username" rules={[{ required: true, message: "Please input your username!" }]}><Input /></Form.Item><Button htmlType="submit">Submit</Button></Form>
    </>
  );
}

createRoot(document.getElementById("root")).render(<Root><h1>Ant Design</h1><Selects /><br /><Controls /><br /><Layers /><Data /></Root>);
